/** What a reader of a message gets: its text, and the parts of it that have a format. `url`: of links alone. */
export type TelegramMessage = {
  text: string;
  entities: { type: string; offset: number; length: number; url?: string }[];
};

const CHARACTERS: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
const TOKEN = /<(\/?)(b|code|a)(?: href="([^"<>]*)")?>|&(amp|lt|gt|quot);|([^<>&]+)/gy;

/**
 * Reads a message with `parse_mode` HTML as the Bot API does (core.telegram.org/bots/api#html-style), with the tags
 * that we use. Throws where Telegram refuses the message: unknown tags, tags that are not closed or closed in another
 * order, a bare `<`, `>` or `&`.
 */
export function readTelegramHtml(html: string): TelegramMessage {
  const open: TelegramMessage['entities'] = [];
  const entities: TelegramMessage['entities'] = [];
  let text = '';
  let at = 0;
  for (const [token, closes, tag, url, character, plain] of html.matchAll(TOKEN)) {
    at += token.length;
    text += plain ?? (character ? CHARACTERS[character] : '');
    if (!tag) continue;
    if (!closes) {
      if ((tag === 'a') !== (url !== undefined)) throw new Error(`${token} is no tag of Telegram`);
      open.push({ type: tag, offset: text.length, length: 0, ...(url !== undefined && { url }) });
    } else {
      const last = open.pop();
      if (last?.type !== tag) throw new Error(`${token} closes ${last?.type ?? 'nothing'}`);
      entities.push({ ...last, length: text.length - last.offset });
    }
  }
  if (at !== html.length) throw new Error(`cannot be read from ${html.slice(at, at + 20)}`);
  if (open.length > 0) throw new Error(`${open.map(({ type }) => type)} is not closed`);
  return { text, entities };
}
