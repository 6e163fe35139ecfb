import { PAGES } from '../../../control-plane/src/console/pages/pages.ts';
import { operationId } from '../../../control-plane/src/http/operation-id.ts';
import type { BenchRoute } from './route-table.ts';

/** A page of the console, and the list of the API from which its ids come. */
export type PageToMeasure = { method: string; path: string; list: string | null };

/** Where the items of a page with an id are listed, by how its path begins. */
const LISTS: Record<string, string> = {
  ...{ scans: 'scans', campaigns: 'campaigns', rules: 'custom-rules', policies: 'policy-sets', webhooks: 'webhooks' },
  organizations: 'organizations',
};

/** The pages of the console that are read, below `/console`. */
export const pagesToMeasure = (): PageToMeasure[] =>
  PAGES.filter(({ method }) => method === 'GET').map(({ method, path }) => {
    const [, first = ''] = path.split('/');
    return { method, path, list: path.includes('{') && LISTS[first] ? `/api/v1/${LISTS[first]}` : null };
  });

/** Forms of the largest size: many fields, one field, and bytes that stand for one each. */
export const worstForms = (bytes: number): Record<string, string> => ({
  'many fields': 'a&'.repeat(bytes / 2),
  'many named fields': 'country_codes=DE&'.repeat(Math.floor(bytes / 17)),
  'a long field': `ad_tag=${'x'.repeat(bytes - 8)}`,
  'a long field with ends of lines': `ad_tag=${'%0D%0A'.repeat(Math.floor((bytes - 8) / 6))}`,
});

/** A call of the tool of an operation, as a message of MCP. `path`: with the ids in it. */
export function toolCall(route: BenchRoute, path: string, query: Record<string, unknown>): string {
  const values = new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(
    path,
  );
  const ids = Object.entries(values?.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
  const params = { name: operationId(route), arguments: { ...Object.fromEntries(ids), ...query } };
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
}

/** Messages to `/mcp` that are no call of a tool, or one with the largest arguments. */
export const worstMessages = (bytes: number): Record<string, string> => {
  const message = (name: string, args: unknown) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
  const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`field_${at}`, at]));
  return {
    'the list of tools': JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    'many arguments': message('createScan', many),
    'a long argument': message('createScan', { url: 'x'.repeat(bytes - 200) }),
    'a long list': message('createScansInBulk', { country_codes: Array(99_000).fill('DE') }),
    'a long name': message('x'.repeat(bytes - 200), {}),
  };
};
