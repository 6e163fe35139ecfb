import http from 'node:http';
import { type ExitTicket, ExitTicketSchema } from '@adsweep/shared/targeting/exit-ticket.ts';
import { Value } from 'typebox/value';

const DEADLINE_MS = 5_000;

/**
 * Loads a page once as a node does: with a new ticket of the proxy-router, through its gateway, and ends the ticket.
 * Throws unless all of it works.
 */
export async function loadThroughExit(routerUrl: string, token: string, url: string, session: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = (method: string, path: string, body?: object) =>
    fetch(routerUrl + path, {
      ...{ method, headers, body: body ? JSON.stringify(body) : null },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
  const targeting = { country_code: 'US', proxy_type: 'residential', region: '', city: '', isp: '' };
  const answer = await call('POST', '/exits', { targeting, session, scan_id: session, ttl_seconds: 60 });
  if (answer.status !== 201) throw new Error(`POST /exits was answered ${answer.status}`);
  const ticket = Value.Parse(ExitTicketSchema, await answer.json());
  const status = await loadWith(ticket, url);
  if (status !== 200) throw new Error(`the gateway answered ${status}`);
  const path = `/exits/${encodeURIComponent(ticket.ticket_id)}`;
  const traffic = (await (await call('GET', `${path}/traffic`)).json()) as { requests?: unknown[] };
  if (traffic.requests?.length !== 1) throw new Error('the ticket does not list its request');
  await call('DELETE', path);
}

function loadWith({ server, username, password }: ExitTicket, url: string): Promise<number> {
  const { hostname, port } = new URL(server);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const headers = { 'proxy-authorization': authorization, host: new URL(url).host };
  return new Promise((resolve, reject) => {
    const request = http.request({ host: hostname, port, path: url, headers, agent: false }, (response) => {
      response
        .resume()
        .on('end', () => resolve(response.statusCode ?? 0))
        .on('error', reject);
    });
    request.setTimeout(DEADLINE_MS, () => request.destroy(new Error('the gateway does not answer')));
    request.on('error', reject).end();
  });
}
