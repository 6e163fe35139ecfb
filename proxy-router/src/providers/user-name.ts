import { createHash } from 'node:crypto';
import type { ExitSession } from './exit.ts';

/** Fields of a place and a session that a vendor's user name can have. */
const USER_NAME_FIELDS = ['country', 'region', 'city', 'isp', 'session', 'proxy_type'] as const;
export type UserNameField = (typeof USER_NAME_FIELDS)[number];

/** The text of each field, '' if the targeting does not ask for it. */
export type UserNameValues = Record<UserNameField, string>;

/** A literal text, a field, or a part that is omitted if one of its fields is empty. */
type Part = string | { field: UserNameField } | { optional: Part[] };

const TOKEN = /\{([^{}]*)\}|[[\]]|[^{}[\]]+|./gs;

/** The problems of a template: braces, brackets and field names; one text for each. */
export function templateProblems(template: string): string[] {
  const problems: string[] = [];
  parse(template, problems);
  if (template.includes(':')) problems.push('it may not contain a colon');
  return problems;
}

/**
 * The user name that a template such as `cust-42[-cc-{country}][-city-{city}]-s-{session}` gives with these values.
 * Pure.
 */
export function fillTemplate(template: string, values: UserNameValues): string {
  const fill = (part: Part): string => {
    if (typeof part === 'string') return part;
    if ('field' in part) return values[part.field];
    const isComplete = part.optional.every(
      (inner) => typeof inner === 'string' || !('field' in inner) || values[inner.field],
    );
    return isComplete ? part.optional.map(fill).join('') : '';
  };
  return parse(template, []).map(fill).join('');
}

function parse(template: string, problems: string[]): Part[] {
  const parts: Part[] = [];
  let optional: Part[] | null = null;
  for (const [token, name] of template.matchAll(TOKEN)) {
    if (token === '[' && optional) problems.push('[ is inside [...]');
    else if (token === '[') optional = [];
    else if (token === ']' && !optional) problems.push('] has no [ before it');
    else if (token === ']') {
      parts.push({ optional: optional! });
      optional = null;
    } else {
      const part = name === undefined ? literal(token, problems) : field(name, problems);
      (optional ?? parts).push(part);
    }
  }
  if (optional) problems.push('[ is not closed');
  return parts;
}

function literal(token: string, problems: string[]): string {
  if (token === '{' || token === '}') problems.push(`${token} has no counterpart`);
  return token;
}

function field(name: string, problems: string[]): Part {
  const known = USER_NAME_FIELDS.find((one) => one === name);
  if (!known) problems.push(`{${name}} is unknown; known: ${USER_NAME_FIELDS.map((one) => `{${one}}`).join(' ')}`);
  return { field: known ?? 'country' };
}

/** How a vendor writes values: `space` replaces the spaces of place names, `session` converts a session id. */
export type Spelling = { space: string; session: (session: string) => string };

/** Letters and digits only: the vendor could read anything else as more targeting. */
export const plainSession = (session: string): string =>
  /^[A-Za-z0-9]+$/.test(session) ? session : createHash('sha256').update(session).digest('hex').slice(0, 16);

/** A number from 10000 to 999999999, for vendors with numeric sessions. */
export const numberedSession = (session: string): string =>
  String(10_000 + (createHash('sha256').update(session).digest().readUIntBE(0, 6) % 999_990_000));

/** The field values for an exit and a session, without colons: a colon would end the user name (RFC 7617 2). Pure. */
export function userNameValues({ exit, session }: ExitSession, spelling: Spelling): UserNameValues {
  const place = (name = '') => name.toLowerCase().replaceAll(':', '').replace(/\s+/g, spelling.space);
  return {
    country: exit.country_code.toLowerCase(),
    region: place(exit.region),
    city: place(exit.city),
    isp: place(exit.isp),
    session: spelling.session(session),
    proxy_type: exit.proxy_type,
  };
}
