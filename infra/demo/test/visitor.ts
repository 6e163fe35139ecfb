import { type IncomingHttpHeaders, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { AdWorld } from '../start-ad-world.ts';

export type Seen = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** Requests a URL of the ad world as the gateway does: the address from `hosts`, the name in the Host header. */
export function visit(world: AdWorld, url: string, options: RequestOptions = {}): Promise<Seen> {
  const { protocol, host, pathname, search } = new URL(url);
  const [address, port] = (world.hosts[host] ?? `127.0.0.1:${world.port}`).split(':');
  const request = protocol === 'https:' ? requestHttps : requestHttp;
  const where = { host: address, port, path: pathname + search, headers: { host }, agent: false as const };
  return new Promise((resolve, reject) => {
    const sent = request({ ...where, rejectUnauthorized: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

type Redirect = { method: 'GET' | 'POST'; url: string; way: string };

/** The redirect in a response, and of which kind; null: none. Recognizes only what the ad world writes. */
export function redirectIn({ status, headers, body }: Seen, from: string): Redirect | null {
  const to = (way: string, url: string, method: Redirect['method'] = 'GET') => ({
    way,
    method,
    url: new URL(url, from).href,
  });
  if (status >= 300 && headers.location) return to(String(status), headers.location);
  const refresh = /^\d+; url=(.*)$/.exec(String(headers.refresh ?? ''));
  if (refresh) return to('refresh_header', refresh[1]!);
  const html = body.toString();
  const meta = /<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(html);
  if (meta) return to('meta_refresh', meta[1]!);
  const script = /<script>location\.href = "([^"]*)";/.exec(html);
  if (script) return to('script', script[1]!);
  const timer = /setTimeout\(\(\) => location\.replace\("([^"]*)"\)/.exec(html);
  if (timer) return to('timer', timer[1]!);
  const form = /<form id="on" action="([^"]*)" method="(post|get)">.*\.submit\(\)/.exec(html);
  if (form) return to(`form_${form[2]}`, form[1]!, form[2] === 'post' ? 'POST' : 'GET');
  const anchor = /<a id="on" href="([^"]*)">.*\.click\(\)/.exec(html);
  return anchor ? to('anchor', anchor[1]!) : null;
}
