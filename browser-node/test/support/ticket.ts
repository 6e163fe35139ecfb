import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExitTicket } from '@adsweep/shared/targeting/exit-ticket.ts';

/** A ticket for the forward proxy at `server`, `http://host:port`. */
export const ticketFor = (server: string): ExitTicket => ({
  ticket_id: 'ticket-1',
  server,
  username: 'ticket-1',
  password: 'secret',
  expires_at: '2030-01-01T00:00:00Z',
  exit: {
    provider: 'test',
    exit_id: 'exit-1',
    country_code: 'DE',
    proxy_type: 'residential',
    region: null,
    city: 'Berlin',
    isp: null,
    session: 'session-1',
    ip: null,
    observed_country_code: null,
    asn: null,
  },
});

/** The response of a proxy to a request without a ticket. */
export const CHALLENGE = { 'proxy-authenticate': 'Basic realm="exit"', 'content-length': '0' };

/** Whether a proxy request carries the credentials of {@link ticketFor}. */
export const hasTicket = ({ headers }: IncomingMessage): boolean =>
  headers['proxy-authorization'] === `Basic ${Buffer.from('ticket-1:secret').toString('base64')}`;

/** Asks for a ticket on a connection that is to be a tunnel, and ends it. */
export function challenge(socket: Duplex): void {
  const headers = Object.entries(CHALLENGE).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 407 \r\n${headers.join('')}\r\n`);
}
