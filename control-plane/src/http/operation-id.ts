import type { Route } from './route.ts';

/**
 * The name of an operation as generated clients call it, such as `createScan`, `listScans` or `cancelScan`. It follows
 * from the method, the path and whether a list is answered; a route can have another one.
 */
export function operationId(route: Route<never>): string {
  if (route.operationId) return route.operationId;
  const parts = partsOf(route.path);
  const action = route.method === 'POST' ? actionOf(route, parts) : null;
  const named = action ? parts.slice(0, -1) : parts;
  const verb = action?.verb ?? verbOf(route);
  const names = named.map((part, at) => {
    const isOne = part.hasId || (verb === 'create' && !action && at === named.length - 1);
    return isOne ? singular(part.name) : part.name;
  });
  return [verb, ...[...names, action?.rest ?? ''].filter((name) => name !== '').map(pascalCase)].join('');
}

/** A segment of a path; `hasId`: a parameter follows, which selects one of it. */
type Part = { name: string; hasId: boolean };

function partsOf(path: string): Part[] {
  const segments = path.replace(/^\/api\/(v1\/)?/, '').split('/');
  const parts = segments.flatMap((name, at): Part[] =>
    name.startsWith('{') ? [] : [{ name, hasId: segments[at + 1]?.startsWith('{') ?? false }],
  );
  // What belongs to the account of the caller is named by itself.
  return parts.length > 1 && parts[0]!.name === 'account' ? parts.slice(1) : parts;
}

/** What a path ends with if it is no resource: `cancel`, or `pause-schedule` with what is paused. */
function actionOf(route: Route<never>, parts: Part[]): { verb: string; rest: string } | null {
  const last = parts.at(-1)!;
  const [first = '', ...rest] = last.name.split('-');
  if (first === 'bulk')
    return { verb: isCreation(route) ? 'create' : 'change', rest: [...rest, 'in', 'bulk'].join('-') };
  const isAction = !last.hasId && parts.length > 1 && (!isCreation(route) || first === 'run');
  return isAction ? { verb: first, rest: rest.join('-') } : null;
}

function verbOf(route: Route<never>): string {
  if (route.method === 'GET') return isList(route) ? 'list' : 'get';
  if (route.method === 'POST') return isCreation(route) ? 'create' : 'add';
  return { PUT: 'replace', PATCH: 'update', DELETE: 'delete' }[route.method];
}

const isCreation = ({ replies }: Route<never>): boolean => 201 in replies;

function isList({ replies }: Route<never>): boolean {
  const schema = replies[200]?.schema as { type?: string; properties?: object } | undefined;
  return schema?.type === 'array' || (schema?.properties !== undefined && 'items' in schema.properties);
}

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/([^s])s$/, '$1');

const pascalCase = (name: string): string =>
  name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
