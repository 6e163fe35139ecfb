import { AT_ONCE, TOGETHER } from '../hold-table.ts';
import { API_KEY, NODE_TOKEN } from '../measured-services.ts';
import { openFleet } from './fill-organization.ts';
import { apiOf, type Bench, callWith, nodeApiOf } from './measured-calls.ts';
import { pagesToMeasure, toolCall, worstForms, worstMessages } from './page-requests.ts';
import { type KnownValues, requestsOf } from './requests-of-route.ts';
import type { BenchRoute } from './route-table.ts';

/** The largest item that a list answers with; null if the path is no list. */
async function largestItem(
  bench: Bench,
  key: string,
  path: string,
): Promise<{ item: Record<string, unknown> | null; pages: number }> {
  const { status, body } = await callWith(bench, key, 'GET', path);
  const items: Record<string, unknown>[] = status !== 200 ? [] : Array.isArray(body) ? body : (body?.items ?? []);
  const size = (one: unknown) => JSON.stringify(one).length;
  const item = items.reduce<Record<string, unknown> | null>(
    (one, other) => (one && size(one) >= size(other) ? one : other),
    null,
  );
  return { item, pages: Number(body?.pages ?? 1) };
}

/** The path with an id of the largest item in place of each parameter. */
async function pathOf(bench: Bench, route: BenchRoute, key: string, known: KnownValues): Promise<string> {
  let path = route.path;
  for (let name = /\{(\w+)\}/.exec(path); name; name = /\{(\w+)\}/.exec(path)) {
    const { item } = await largestItem(bench, key, path.slice(0, name.index - 1));
    const value = item?.[name[1]!] ?? item?.id ?? item?.slug ?? item?.node_id ?? known[name[1]!] ?? '0';
    path = path.replace(name[0], encodeURIComponent(String(value)));
  }
  return path;
}

/** Reads first, then changes, and removals at the end. */
const ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

export async function measureApi(
  bench: Bench,
  routes: BenchRoute[],
  clientKey: string,
  known: KnownValues,
): Promise<void> {
  const reportFleet = openFleet(nodeApiOf(bench.services), NODE_TOKEN);
  const ordered = routes.toSorted((one, other) => ORDER.indexOf(one.method) - ORDER.indexOf(other.method));
  for (const route of ordered.filter(({ path }) => bench.isMeasured(path))) {
    const isOperators = /^(organizations|fleet)\./.test(route.permission);
    const key = isOperators ? API_KEY : clientKey;
    const path = await pathOf(bench, route, key, known);
    const pages =
      route.method === 'GET' && 'page' in route.query.properties
        ? (await largestItem(bench, key, `${path}?limit=200`)).pages
        : 1;
    const operation = `${route.method} ${route.path}`;
    const began = performance.now();
    // Nodes that do not report are forgotten after half a minute.
    if (route.path.includes('/fleet')) await reportFleet();
    for (const { what, isCommon, query, body } of requestsOf(route, known, pages)) {
      const request = {
        service: () => bench.services.control,
        surface: 'API',
        method: route.method,
        url: `${apiOf(bench.services)}${path}${query && `?${query}`}`,
        key,
      };
      await bench.table.measure(operation, what, () => ({ ...request, ...(body !== undefined && { body }) }));
      if (route.method === 'GET' && isCommon)
        await bench.table.measure(operation, `${what}, ${AT_ONCE} at once`, () => request, TOGETHER);
    }
    console.log(`${operation}: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  }
}

/** The pages of the console that are read, each with the largest item, and its forms. */
export async function measureConsole(bench: Bench, key: string, known: KnownValues): Promise<void> {
  const paths = pagesToMeasure().filter(({ path }) => bench.isMeasured(`/console${path}`));
  if (paths.length === 0 && !bench.isMeasured('/console')) return;
  const origin = new URL(apiOf(bench.services)).origin;
  const signIn = async (credential: string) => {
    const body = new URLSearchParams({ key: credential });
    const answer = await fetch(`${apiOf(bench.services)}/console/sign-in`, {
      method: 'POST',
      headers: { origin },
      body,
      redirect: 'manual',
    });
    return (answer.headers.get('set-cookie') ?? '').split(';', 1)[0]!;
  };
  const [cookie, operators] = [await signIn(key), await signIn(API_KEY)];
  const request = { service: () => bench.services.control, surface: 'console', method: 'GET', key: '' };
  for (const { path, list } of paths) {
    const isOperators = /^\/(fleet|organizations)/.test(path);
    const id = list === null ? known.run_id : (await largestItem(bench, isOperators ? API_KEY : key, list)).item?.id;
    const url = `${apiOf(bench.services)}/console${path.replaceAll(/\{\w+\}/g, () => String(id ?? '0'))}`;
    const headers = { cookie: isOperators ? operators : cookie };
    for (const query of path === '/scans' || path === '/alerts' || path === '/campaigns' ? ['', '?limit=200'] : ['']) {
      const page = { ...request, url: url + query, headers };
      await bench.table.measure(`GET /console${path}`, `as it is ${query}`, () => page);
      await bench.table.measure(`GET /console${path}`, `${AT_ONCE} at once ${query}`, () => page, TOGETHER);
    }
  }
  const headers = { cookie, origin, 'content-type': 'application/x-www-form-urlencoded' };
  for (const [what, body] of Object.entries(worstForms(1024 * 1024)))
    await bench.table.measure('POST /console/scans/new', what, () => ({
      ...{ ...request, method: 'POST', url: `${apiOf(bench.services)}/console/scans/new`, headers, body },
    }));
}

/** The tools of assistants: those that read, with the largest items and pages, and messages that are too large. */
export async function measureTools(bench: Bench, routes: BenchRoute[], key: string, known: KnownValues): Promise<void> {
  if (!bench.isMeasured('/mcp')) return;
  const headers = { accept: 'application/json, text/event-stream' };
  const request = {
    service: () => bench.services.control,
    surface: 'MCP',
    method: 'POST',
    url: `${apiOf(bench.services)}/mcp`,
    key,
    headers,
  };
  for (const [what, body] of Object.entries(worstMessages(1024 * 1024)))
    await bench.table.measure('POST /mcp', what, () => ({ ...request, body }));
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    const isOperators = /^(organizations|fleet)\./.test(route.permission);
    const path = await pathOf(bench, route, isOperators ? API_KEY : key, known);
    const query = {
      ...('limit' in route.query.properties && { limit: 50 }),
      ...(path.endsWith('/events') && { wait_seconds: 0 }),
    };
    const call = { ...request, key: isOperators ? API_KEY : key, body: toolCall(route, path, query) };
    await bench.table.measure('POST /mcp', route.path, () => call);
    await bench.table.measure('POST /mcp', `${route.path}, ${AT_ONCE} at once`, () => call, TOGETHER);
  }
}
