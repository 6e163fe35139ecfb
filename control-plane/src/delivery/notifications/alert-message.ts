import type { AlertStatus } from '../../platform/outbox/outbox-entry.ts';

/**
 * An alert in a message. `labels`: those that the destination includes. `link`: the report of the scan. `now`: its
 * status, if that is not the message's any more. '' where there is nothing.
 */
export type AlertLine = {
  tag: string;
  severity: string;
  country: string;
  device: string;
  target: string;
  landing: string;
  labels: [key: string, value: string][];
  link: string;
  now: AlertStatus | '';
};

/** The picture of the first alert. `url`: its public address. */
export type MessagePicture = { bytes: Buffer; url: string };

/**
 * A message about alerts of one campaign that got one status. `id`: the same whenever it is sent again; absent: a test.
 * `count`: all of them; `lines`: the first ones. `note`: said before the lines.
 */
export type AlertMessage = {
  id?: string;
  campaign: string;
  status: AlertStatus;
  count: number;
  lines: AlertLine[];
  note: string;
  picture: MessagePicture | null;
};

/** Lines that a message has at most (decisions 12). */
export const LINES_MAX = 20;

/** Longer subjects are cut by most mail programs. */
const SUBJECT_MAX = 200;
const TEXT_MAX = { campaign: 120, tag: 100, url: 150, label: 60 };

/**
 * The first line of a message: `Spring offer: open · 3 alerts`. If it is longer than `max` UTF-16 units, the name of
 * the campaign is cut.
 */
export function titleOf({ campaign, status, count }: AlertMessage, max = Number.POSITIVE_INFINITY): string {
  const about = `: ${status} · ${count} ${count === 1 ? 'alert' : 'alerts'}`;
  let characters = TEXT_MAX.campaign;
  let title = shown(campaign, characters) + about;
  while (title.length > max) title = shown(campaign, --characters) + about;
  return title;
}

/**
 * The subject of a mail: the title, and what was found:
 * `Spring offer: open · 3 alerts: Back button trap (high), Plays sound (medium)`.
 */
export function subjectOf(message: AlertMessage): string {
  const found = [...new Set(message.lines.map((line) => factsOf(line).heading))];
  return shown([titleOf(message), found.join(', ')].filter((part) => part !== '').join(': '), SUBJECT_MAX);
}

/**
 * What an alert says, in the order of reading; empty ones are left out. Values come from clients and from hostile
 * pages.
 */
export type LineFact = { name: string; value: string };

/** The tag with its severity, and the facts about the scan. */
export function factsOf(line: AlertLine): { heading: string; facts: LineFact[] } {
  const tag = shown(line.tag, TEXT_MAX.tag);
  const facts = [
    { name: 'Now', value: line.now },
    { name: 'Country', value: line.country },
    { name: 'Device', value: shown(line.device, TEXT_MAX.tag) },
    { name: 'Target', value: shown(line.target, TEXT_MAX.url) },
    { name: 'Landing', value: shown(line.landing, TEXT_MAX.url) },
    ...line.labels.map(([key, value]) => ({ name: key, value: shown(value, TEXT_MAX.label) })),
  ];
  return {
    heading: line.severity ? `${tag} (${line.severity})` : tag,
    facts: facts.filter(({ value }) => value !== ''),
  };
}

/** In one line, without invisible characters that change how text looks, and cut. */
function shown(text: string, max: number): string {
  const visible = text
    .replaceAll(/[\s\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu, '')
    .trim();
  const characters = [...visible];
  return characters.length <= max ? visible : `${characters.slice(0, max - 1).join('')}…`;
}

/** As many parts, in order, as fit into `max` characters together, and how many are left. */
export function fitting(parts: string[], max: number, separator: string): { text: string; left: number } {
  let text = '';
  for (const [index, part] of parts.entries()) {
    const longer = index === 0 ? part : `${text}${separator}${part}`;
    if (longer.length > max) return { text, left: parts.length - index };
    text = longer;
  }
  return { text, left: 0 };
}

/** How many alerts a message has that it does not show; '' if it shows all. */
export const moreOf = (count: number): string => (count > 0 ? `and ${count} more` : '');
