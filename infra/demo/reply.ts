/** A response of the ad world. `body` '': none. */
export type Reply = { status: number; headers: Record<string, string>; body: string | Buffer };

/** `silence`: the connection stays open without a response. `hang_up`: it is closed without one. */
export type Answer = Reply | 'silence' | 'hang_up' | ((url: URL) => Reply);

/** The responses of one host, by path. */
export type Site = Record<string, Answer>;

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  svg: 'image/svg+xml',
  gif: 'image/gif',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  xml: 'application/xml; charset=utf-8',
};

/** A 200 response with the content type of a file extension. */
export function ok(extension: string, body: string | Buffer): Reply {
  return { status: 200, headers: { 'content-type': TYPES[extension] ?? 'application/octet-stream' }, body };
}

/** A small HTML page: `head` and `body` are markup. */
export function page(title: string, head: string, body: string): Reply {
  return ok(
    'html',
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<title>${title}</title>${head}<body style="font:16px/1.5 system-ui,sans-serif;margin:3rem">${body}</body></html>`,
  );
}
