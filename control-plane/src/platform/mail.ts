import type { ConnectionOptions } from 'node:tls';
import { HOUR_MS, MINUTE_MS } from '@adsweep/shared/durations.ts';
import { createTransport } from 'nodemailer';

/**
 * A mail. `id`: of letters, digits and `-`; sent again, because its sender died before it had noted that, the mail has
 * the same `Message-ID`, by which receivers show it once. Absent: it is sent once. Each of `to` gets its own copy of
 * the headers with all of them. `pictures`: shown where the HTML has `cid:<cid>`.
 */
export type Mail = {
  id?: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  replyTo?: string;
  pictures?: { cid: string; filename: string; type: string; bytes: Buffer }[];
};

/**
 * The result of a mail. `status`: the SMTP status, null where the mail server did not answer. `isPermanent`: sending it
 * again is useless. `reason`: for the client whose mail it is; `cause`: for the log.
 */
export type MailOutcome =
  | { sent: true; status: number }
  | { sent: false; status: number | null; isPermanent: boolean; reason: string; cause: unknown };

/** Sends mails by the operator's mail server. */
export type Mailer = {
  /** Never rejects. `signal` aborts it, and so does its deadline of a minute. */
  send(mail: Mail, signal?: AbortSignal): Promise<MailOutcome>;
};

/**
 * `url`: `smtp://` or `smtps://`, with user and password where the server wants them. `from`: the sender. `tls`: for
 * tests.
 */
export type MailSettings = { url: string; from: string; tls?: ConnectionOptions; totalMs?: number };

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
const TOTAL_MS = 60_000;
const OK_STATUS = 250;

/** While one process sends a stored mail, no other does: longer than a mail takes at most. */
export const MAIL_TAKEN_MS = 2 * MINUTE_MS;
const RETRY_MIN_MS = 30_000;
const RETRY_MAX_MS = HOUR_MS;

/**
 * When a mail that was not sent is tried again; null: it is given up, as each is `forMs` after `since`. `tries`: so
 * far. Pure.
 */
export function nextTryAt(
  { isPermanent }: Extract<MailOutcome, { sent: false }>,
  { since, forMs, tries }: { since: Date; forMs: number; tries: number },
  now: Date,
): Date | null {
  if (isPermanent || now.getTime() - since.getTime() >= forMs) return null;
  return new Date(now.getTime() + Math.min(RETRY_MIN_MS * 2 ** (tries - 1), RETRY_MAX_MS));
}

/**
 * A mailer. With user and password, `smtp://` requires STARTTLS: nobody in between can read the password. Certificates
 * are verified. Nothing in a mail makes it read a file or a URL.
 */
export function openMailer({ url, from, tls, totalMs = TOTAL_MS }: MailSettings): Mailer {
  const { username } = new URL(url);
  const transport = createTransport({
    url,
    requireTLS: username !== '',
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(tls && { tls }),
  });
  return {
    async send({ id, to, subject, text, html, replyTo, pictures = [] }, signal) {
      const ending = AbortSignal.any([AbortSignal.timeout(totalMs), ...(signal ? [signal] : [])]);
      try {
        const { response } = await transport.sendMail({
          from,
          ...(id !== undefined && { messageId: `<${id}${from.slice(from.lastIndexOf('@'))}>` }),
          // As objects, so that no address is read as a list of several.
          to: to.map((address) => ({ name: '', address })),
          ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
          subject: inOneLine(subject),
          text,
          html,
          signal: ending,
          attachments: pictures.map(({ cid, filename, type, bytes }) => ({
            cid,
            filename,
            contentType: type,
            content: bytes,
            contentDisposition: 'inline' as const,
          })),
        });
        return { sent: true, status: Number.parseInt(response, 10) || OK_STATUS };
      } catch (cause) {
        return failureOf(cause as SmtpError);
      }
    },
  };
}

/** An error of nodemailer. `code`: what failed; `responseCode`: the server's status. */
type SmtpError = Error & { code?: string; responseCode?: number; response?: string };

/** The steps in which the server judges the mail itself, not our access to the server. */
const ABOUT_THE_MAIL = ['EENVELOPE', 'EMESSAGE'];

function failureOf(error: SmtpError): Extract<MailOutcome, { sent: false }> {
  const { code = '', responseCode: status = null } = error;
  const isRefused = status !== null && ABOUT_THE_MAIL.includes(code);
  const isPermanent = isRefused && status >= 500;
  const reason = isRefused
    ? `the mail server refused it: ${inOneLine(error.response ?? String(status)).slice(0, 200)}`
    : 'the mail server could not be used';
  return { sent: false, status, isPermanent, reason, cause: error };
}

/** Without control characters, which would begin another header. */
const inOneLine = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ').trim();
