/** A forward proxy of somebody else: where it is and how we are known to it. `username` and `password` '' where it asks for none. */
export type Upstream = {
  protocol: 'http' | 'https' | 'socks5';
  host: string;
  port: number;
  username: string;
  password: string;
};

const PORTS = { http: 80, https: 443, socks5: 1080 } as const;

/** Reads `http://user:pass@host:port`, `https://...` or `socks5://...`; credentials percent-encoded where needed. null: it is none. */
export function parseUpstream(text: string): Upstream | null {
  const url = URL.parse(text);
  const protocol = url?.protocol.slice(0, -1) as Upstream['protocol'];
  if (!url || !(protocol in PORTS) || url.hostname === '') return null;
  if (!/^\/?$/.test(url.pathname) || url.search || url.hash) return null;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port || PORTS[protocol]);
  try {
    const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
    return { protocol, host, port, username, password };
  } catch {
    return null;
  }
}

/** The Basic credentials (RFC 7617), '' where there are none. */
export const basicCredentials = ({ username, password }: Upstream): string =>
  username || password ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` : '';
