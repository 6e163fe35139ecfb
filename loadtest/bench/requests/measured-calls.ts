import type { HoldTable } from '../hold-table.ts';
import type { startServices } from '../measured-services.ts';

export type Services = Awaited<ReturnType<typeof startServices>>;

/** The services that are measured, and the table of the results. `isMeasured`: whether the paths that were asked for include this one. */
export type Bench = { services: Services; table: HoldTable; isMeasured: (path: string) => boolean };

// A control plane that was started again has other ports.
export const apiOf = ({ control }: Services): string => `http://127.0.0.1:${control.ports.http}`;
export const nodeApiOf = ({ control }: Services): string => `http://127.0.0.1:${control.ports.node_api}`;

/** Calls the API; `body` of the answer: null if it is no JSON. */
export async function callWith(
  { services }: Pick<Bench, 'services'>,
  key: string,
  method: string,
  path: string,
  body?: unknown,
) {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(apiOf(services) + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    body: answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : null,
  };
}
