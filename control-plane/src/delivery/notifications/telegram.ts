import { fetchInTime } from '@adsweep/shared/service/fetch-in-time.ts';
import { type AlertLine, type AlertMessage, factsOf, fitting, moreOf, titleOf } from './alert-message.ts';
import type { SendOutcome } from './destination-health.ts';

/** Telegram's limits, in characters after its formatting was read; ours count the formatting too. */
const TEXT_MAX = 4_096;
const CAPTION_MAX = 1_024;
/**
 * Telegram ignores the formatting of a message after so many entities: an address that is to be code would become a
 * link.
 */
const ENTITIES_MAX = 100;
/** For the number of alerts that are left out. */
const MORE_MAX = 40;
const TIMEOUT_MS = 20_000;

/** A bot and the chat that it writes to. `apiUrl`: the base URL, before `/bot<token>/<method>`. */
export type TelegramTarget = { apiUrl: string; token: string; chatId: number };

/** Sends a message by a bot: a photo with a caption, or, where that would be too long, a text followed by the photo. */
export async function sendToTelegram(
  target: TelegramTarget,
  message: AlertMessage,
  signal?: AbortSignal,
): Promise<SendOutcome> {
  const { picture } = message;
  const caption = picture && telegramText(message, CAPTION_MAX);
  if (picture && caption && isWhole(message, caption)) {
    const sent = await callBot(target, 'sendPhoto', photo(target, picture.bytes, caption.text), signal);
    // A photo that Telegram cannot read must not hold back the alert.
    if (sent.sent || sent.status !== 400) return sent;
  }
  const { text } = telegramText(message, TEXT_MAX);
  const body = JSON.stringify({
    chat_id: target.chatId,
    text,
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  });
  const sent = await callBot(target, 'sendMessage', body, signal);
  const isPhotoLeft = sent.sent && picture && caption && !isWhole(message, caption);
  // The text has arrived: a photo that fails is left out rather than sending the text again.
  if (isPhotoLeft) await callBot(target, 'sendPhoto', photo(target, picture.bytes, ''), signal).catch(() => undefined);
  return sent;
}

const isWhole = ({ lines }: AlertMessage, { shown }: { shown: number }): boolean => shown === lines.length;

function photo({ chatId }: TelegramTarget, bytes: Buffer, caption: string): FormData {
  const form = new FormData();
  form.set('chat_id', String(chatId));
  form.set('photo', new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'alert.jpg');
  if (caption) {
    form.set('caption', caption);
    form.set('parse_mode', 'HTML');
  }
  return form;
}

/** The errors of fetch name the URL, which contains the token: nothing of them is passed on but their code. */
async function callBot(
  { apiUrl, token }: TelegramTarget,
  method: 'sendMessage' | 'sendPhoto',
  body: string | FormData,
  signal?: AbortSignal,
): Promise<SendOutcome> {
  const headers: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const request = { method: 'POST', headers, body, redirect: 'manual' as const, ...(signal && { signal }) };
  try {
    const { status, text } = await fetchInTime(`${apiUrl}/bot${token}/${method}`, request, TIMEOUT_MS);
    const { ok, description, parameters } = readReply(text);
    if (status === 200 && ok) return { sent: true, status };
    const said = description.replaceAll(token, '***').slice(0, 200);
    const retryAfterMs = parameters?.retry_after ? parameters.retry_after * 1_000 : null;
    return { sent: false, status, reason: `Telegram answered ${status}${said && `: ${said}`}`, retryAfterMs };
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    const { code = 'no answer' } = ((error as Error).cause ?? {}) as { code?: string };
    return { sent: false, status: null, reason: `Telegram could not be reached: ${code}` };
  }
}

function readReply(text: string): { ok: boolean; description: string; parameters?: { retry_after?: number } } {
  try {
    const { ok, description, parameters } = JSON.parse(text) ?? {};
    const after = Number(parameters?.retry_after);
    const isNumber = Number.isFinite(after) && after > 0;
    return {
      ok: ok === true,
      description: typeof description === 'string' ? description : '',
      ...(isNumber && { parameters: { retry_after: after } }),
    };
  } catch {
    return { ok: false, description: '' };
  }
}

/** The message in Telegram's HTML, with as many lines as fit into `max` characters. Pure. */
export function telegramText(message: AlertMessage, max: number): { text: string; shown: number } {
  const { note, lines, count } = message;
  const head = [`<b>${inert(titleOf(message))}</b>`, ...(note ? [inert(note)] : [])];
  const formatted = withinEntities(lines.map(lineText), ENTITIES_MAX - 1);
  const fit = fitting([...head, ...formatted], max - MORE_MAX, '\n\n');
  const shown = Math.max(0, formatted.length - fit.left);
  const more = moreOf(count - shown);
  return { text: more ? `${fit.text}\n\n${more}` : fit.text, shown };
}

/** The first lines whose tags are together at most `most` entities. */
function withinEntities(texts: string[], most: number): string[] {
  let left = most;
  return texts.filter((text) => {
    left -= text.match(/<(?:b|code|a)\b/g)?.length ?? 0;
    return left >= 0;
  });
}

function lineText(line: AlertLine): string {
  const { heading, facts } = factsOf(line);
  const link = `<a href="${escaped(line.link)}">Open the report</a>`;
  const parts = [`<b>${inert(heading)}</b>`, ...facts.map(({ name, value }) => `${inert(name)}: ${code(value)}`)];
  return `${fitting(parts, TEXT_MAX / 2 - link.length, '\n').text}\n${link}`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (char) => ENTITIES[char]!);

/** A text in which Telegram finds no mention, command, hashtag or address. */
const inert = (text: string): string => escaped(text.replaceAll(/[@/#.:$]/g, '$&\u200b'));

/** A value of a page or a client: in code nothing becomes a link. */
const code = (text: string): string => `<code>${escaped(text)}</code>`;
