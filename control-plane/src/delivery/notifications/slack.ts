import { EgressError } from '@adsweep/shared/egress/egress-error.ts';
import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import { type AlertLine, type AlertMessage, factsOf, fitting, moreOf, titleOf } from './alert-message.ts';
import type { SendOutcome } from './destination-health.ts';

/** Slack's limits: characters of a header, of a section, and of a message's text; blocks of a message. */
const HEADER_MAX = 150;
const SECTION_MAX = 3_000;
/** Slack takes 40,000, Mattermost 16,383. */
const TEXT_MAX = 12_000;
const TIMEOUT_MS = 15_000;

/**
 * Sends a message to an incoming webhook of Slack, or of a service that takes the same messages, such as Mattermost.
 */
export async function sendToSlack(
  post: GuardedPost['post'],
  url: string,
  message: AlertMessage,
  signal?: AbortSignal,
): Promise<SendOutcome> {
  const { id } = message;
  const sent = await postTo(post, url, { id, payload: slackPayload(message) }, signal);
  // Slack refuses the whole message if it cannot load the picture, such as from a private address.
  const isRefused = !sent.sent && sent.status !== null && sent.status >= 400 && sent.status < 404;
  if (!isRefused || !message.picture) return sent;
  return postTo(post, url, { id, payload: slackPayload({ ...message, picture: null }) }, signal);
}

async function postTo(
  post: GuardedPost['post'],
  url: string,
  { id, payload }: { id: string | undefined; payload: object },
  signal?: AbortSignal,
): Promise<SendOutcome> {
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'Adsweep',
      ...(id !== undefined && { 'webhook-id': id }),
    };
    const request = { url, headers, body: JSON.stringify(payload), timeoutMs: TIMEOUT_MS };
    const { status, body, retryAfter } = await post({ ...request, ...(signal && { signal }) });
    if (status >= 200 && status < 300) return { sent: true, status };
    const retryAfterMs = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : null;
    const isRedirect = status >= 300 && status < 400;
    const said = isRedirect ? 'redirects are not followed' : body.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
    return { sent: false, status, reason: `the webhook answered ${status}${said && `: ${said}`}`, retryAfterMs };
  } catch (cause) {
    if (!(cause instanceof EgressError)) throw cause;
    return { sent: false, status: null, reason: cause.message, cause };
  }
}

/** The message as Slack's blocks, and as text for notifications and for services without blocks. Pure. */
export function slackPayload(message: AlertMessage) {
  const { note, picture, count } = message;
  const title = titleOf(message);
  const sections = message.lines.map(sectionText);
  const more = moreOf(count - sections.length);
  const text = fitting([`*${plain(title)}*`, ...(note ? [plain(note)] : []), ...sections], TEXT_MAX, '\n\n');
  const moreInText = moreOf(count - sections.length + text.left);
  return {
    text: moreInText ? `${text.text}\n\n${moreInText}` : text.text,
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: titleOf(message, HEADER_MAX), emoji: false } },
      ...(note ? [section(plain(note))] : []),
      ...sections.slice(0, 1).map(section),
      ...(picture ? [{ type: 'image', image_url: picture.url, alt_text: 'Screenshot of the first alert' }] : []),
      ...sections.slice(1).map(section),
      ...(more ? [{ type: 'context', elements: [{ type: 'mrkdwn', text: more }] }] : []),
    ],
  };
}

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } });

function sectionText(line: AlertLine): string {
  const { heading, facts } = factsOf(line);
  const link = `<${line.link}|Open the report>`;
  const parts = [`*${plain(heading)}*`, ...facts.map(({ name, value }) => `${plain(name)}: ${code(value)}`)];
  return `${fitting(parts, SECTION_MAX - link.length - 1, '\n').text}\n${link}`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A text in which nothing is a format, a link, a mention or an emoji. */
const plain = (text: string): string => escaped(text).replaceAll(/[*_~`@:|![\]()]/g, '$&\u200b');

/** A value of a page or a client: code has no links and mentions. */
const code = (text: string): string => `\`${escaped(text.replaceAll('`', 'ˋ'))}\``;
