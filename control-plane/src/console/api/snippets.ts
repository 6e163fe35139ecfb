import type { CalledOperation } from '../../http/call-routes.ts';
import type { MadeCall } from './console-api.ts';

/** What connects a destination of alerts: forms do not show it, so the call that they made does not either. */
const SECRETS = ['webhook_url', 'bot_token'];

/** A body as JSON, with names in place of what a person typed unseen. */
const shownBody = (body: unknown): string =>
  JSON.stringify(body, (name, value) => (SECRETS.includes(name) ? `<${name}>` : value));

/** A call of the API as a command of curl, for a POSIX shell. */
export function curlOf({ method, path, body }: MadeCall, publicUrl: string): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(publicUrl + path)}`,
    `-H "Authorization: Bearer $ADSWEEP_API_KEY"`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(shownBody(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The same call with the client `@adsweep/client`. */
export function clientCallOf({ body }: Pick<MadeCall, 'body'>, { id, ids, query, hasBody }: CalledOperation): string {
  const hasQuery = Object.keys(query).length > 0;
  const input = hasBody ? [literal(JSON.parse(shownBody(body ?? {})))] : hasQuery ? [literal(query)] : [];
  const options = hasBody && hasQuery ? [`{ query: ${literal(query)} }`] : [];
  return `await api.${id}(${[...ids.map((one) => literal(one)), ...input, ...options].join(', ')});`;
}

/** A value as TypeScript. */
function literal(value: unknown): string {
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(
    ([name, one]) => `${/^[a-z_]\w*$/i.test(name) ? name : literal(name)}: ${literal(one)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
