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
