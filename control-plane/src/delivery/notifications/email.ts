import { type Html, html } from '../../http/pages/html.ts';
import type { Mail, Mailer } from '../../platform/mail.ts';
import { type AlertLine, type AlertMessage, factsOf, moreOf, subjectOf, titleOf } from './alert-message.ts';
import type { SendOutcome } from './destination-health.ts';

const PICTURE = 'screenshot';

/** Sends a message by mail, with its picture inside. */
export async function sendByMail(
  mailer: Mailer | null,
  address: string,
  message: AlertMessage,
  signal?: AbortSignal,
): Promise<SendOutcome> {
  if (!mailer) return { sent: false, status: null, reason: 'this service sends no mails' };
  const outcome = await mailer.send(alertMail(address, message), signal);
  if (outcome.sent) return outcome;
  const { status, reason, cause } = outcome;
  return { sent: false, status, reason, cause };
}

/** The mail of a message. Pure. */
export function alertMail(address: string, message: AlertMessage): Mail {
  const { id, lines, count, note, picture } = message;
  const title = titleOf(message);
  const more = moreOf(count - lines.length);
  const text = [inert(title), ...(note ? [note] : []), ...lines.map(lineText), ...(more ? [more] : [])].join('\n\n');
  return {
    ...(id !== undefined && { id }),
    to: [address],
    subject: subjectOf(message),
    text: `${text}\n`,
    html: page(message, title, more).toString(),
    ...(picture && {
      pictures: [{ cid: PICTURE, filename: 'screenshot.jpg', type: 'image/jpeg', bytes: picture.bytes }],
    }),
  };
}

function lineText(line: AlertLine): string {
  const { heading, facts } = factsOf(line);
  return [inert(heading), ...facts.map(({ name, value }) => `${name}: ${inert(value)}`), `Report: ${line.link}`].join(
    '\n',
  );
}

const COLORS: Record<string, string> = { high: '#b3261e', medium: '#9a5b00', low: '#4a5568' };

/**
 * Mail programs know no style sheets and few elements: all styles are at their elements, and the layout is one column.
 */
function page({ lines, note, picture }: AlertMessage, title: string, more: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
</head>
<body style="margin:0;padding:0;background:#f2f4f7">
<div style="max-width:600px;margin:0 auto;padding:16px;font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:1.45;color:#1a202c">
<h1 style="margin:0 0 12px;font-size:20px;line-height:1.3;overflow-wrap:anywhere">${inert(title)}</h1>
${note && html`<p style="margin:0 0 12px">${note}</p>`}
${lines.slice(0, 1).map(card)}
${picture && html`<img src="cid:${PICTURE}" alt="Screenshot of the first alert" width="568" style="display:block;width:100%;max-width:568px;height:auto;box-sizing:border-box;margin:0 0 12px;border:1px solid #d5dae1;border-radius:6px">`}
${lines.slice(1).map(card)}
${more && html`<p style="margin:12px 0">${more}</p>`}
<p style="margin:16px 0 0;font-size:13px;color:#4a5568">Sent by Adsweep, because this address is a destination of alerts.</p>
</div>
</body>
</html>
`;
}

function card(line: AlertLine): Html {
  const { heading, facts } = factsOf(line);
  const color = COLORS[line.severity] ?? COLORS.low!;
  return html`<div style="margin:0 0 12px;padding:12px 14px;background:#ffffff;border:1px solid #d5dae1;border-left:4px solid ${color};border-radius:6px">
<p style="margin:0 0 6px;font-weight:bold;color:${color};overflow-wrap:anywhere">${inert(heading)}</p>
${facts.map(({ name, value }) => html`<p style="margin:0 0 2px;font-size:14px;overflow-wrap:anywhere"><span style="color:#4a5568">${name}:</span> <bdi>${inert(value)}</bdi></p>`)}
<p style="margin:10px 0 0"><a href="${line.link}" style="display:inline-block;padding:9px 14px;background:#1f4fd8;color:#ffffff;text-decoration:none;border-radius:6px;font-weight:bold">Open the report</a></p>
</div>`;
}

/**
 * Mail programs make links of what looks like an address, in any script. A zero-width non-joiner prevents that for
 * hostile ones; it changes no letter.
 */
const inert = (text: string): string => text.replaceAll(/:\/\/|[.@](?=[\p{L}\p{N}_])/gu, '$&\u200c');
