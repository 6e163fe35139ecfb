import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail as the server received it. `secure`: over TLS. */
export type ReceivedMail = { from: string; to: string[]; source: string; secure: boolean; user: string | null };

const read = (file: string) => readFileSync(new URL(`../../../infra/demo/test-certificate/${file}`, import.meta.url));

/** The certificate of the server, which is one for `localhost`. */
export const MAIL_CERTIFICATE = read('certificate.pem');

/**
 * A mail server on a free port. `refuse`: called for each recipient and each message; a number is the status that it is
 * refused with. Without `auth` nobody needs to log in.
 */
export async function startMailServer({
  refuse = () => null,
  auth,
  ...options
}: SMTPServerOptions & {
  refuse?: (what: 'recipient' | 'message', address: string) => number | null;
  auth?: { user: string; pass: string };
} = {}) {
  const received: ReceivedMail[] = [];
  const refusal = (status: number | null) =>
    status === null ? null : Object.assign(new Error(`not here\r\n${status} today`), { responseCode: status });
  const server = new SMTPServer({
    ...{ key: read('private-key.pem'), cert: MAIL_CERTIFICATE, authOptional: !auth, logger: false },
    onAuth: ({ username, password }, _session, done) =>
      username === auth?.user && password === auth?.pass
        ? done(null, { user: username })
        : done(Object.assign(new Error('wrong password'), { responseCode: 535 })),
    onRcptTo: ({ address }, _session, done) => done(refusal(refuse('recipient', address))),
    onData(stream, { envelope, secure, user }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refused = refusal(refuse('message', ''));
        if (refused) return done(refused);
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString('utf8'),
          secure,
          user: typeof user === 'string' ? user : null,
        });
        done();
      });
    },
    ...options,
  });
  // Clients that end a connection in the middle are part of the tests.
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return { port, received, stop: () => new Promise<void>((resolve) => server.close(() => resolve())) };
}

/** The parts of a mail: the headers of all, and the bodies by content type, decoded. For mails of nodemailer's form. */
export function partsOf(source: string): { headers: string; bodies: Map<string, Buffer> } {
  const bodies = new Map<string, Buffer>();
  const readPart = (part: string) => {
    const end = part.indexOf('\r\n\r\n');
    const head = part.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ');
    const body = part.slice(end + 4);
    const boundary = /boundary="?([^";\r\n]+)/.exec(head)?.[1];
    if (boundary) for (const inner of body.split(`--${boundary}`).slice(1, -1)) readPart(inner.replace(/^\r\n/, ''));
    else bodies.set(/content-type: ([^;\r\n]+)/i.exec(head)?.[1] ?? 'text/plain', decoded(head, body));
    return head;
  };
  return { headers: readPart(source), bodies };
}

function decoded(head: string, body: string): Buffer {
  if (/encoding: base64/i.test(head)) return Buffer.from(body, 'base64');
  if (!/encoding: quoted-printable/i.test(head)) return Buffer.from(body);
  const bytes = body
    .replaceAll(/=\r\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1');
}
