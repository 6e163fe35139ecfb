import { type Static, Type } from 'typebox';
import { parseUpstream } from './dial-upstream.ts';
import { PriceSchema, TicketsMaxSchema } from './exit.ts';
import { templateProblems } from './user-name.ts';
import { VENDOR_KINDS } from './vendors.ts';

/** A vendor's account as the exits file describes it. */
export const ProviderConfigSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }),
    kind: Type.Enum(VENDOR_KINDS),
    endpoint: Type.String({ minLength: 1 }),
    username: Type.String({ minLength: 1, maxLength: 500 }),
    password: Type.Optional(Type.String({ minLength: 1 })),
    password_file: Type.Optional(Type.String({ minLength: 1 })),
    catalogue: Type.String({ minLength: 1 }),
    tickets_max: TicketsMaxSchema,
    price_per_gb: PriceSchema,
  },
  { additionalProperties: false },
);
export type ProviderConfig = Static<typeof ProviderConfigSchema>;

/** Whether a catalogue is fetched from a URL, not read from a file. */
export const isUrl = (catalogue: string): boolean => /^https?:\/\//i.test(catalogue);

/** The problems of an account that its schema does not cover, one text for each; absent fields are not checked. */
export function providerConfigProblems(config: Partial<ProviderConfig>): string[] {
  const { endpoint, password, password_file, catalogue = '' } = config;
  const problems = [...endpointProblems(endpoint)];
  if ((password === undefined) === (password_file === undefined))
    problems.push('needs either password or password_file');
  problems.push(...userNameProblems(config));
  if (isUrl(catalogue) && !URL.canParse(catalogue)) problems.push('catalogue is not a valid URL');
  return problems;
}

function endpointProblems(endpoint: string | undefined): string[] {
  if (endpoint === undefined) return [];
  const upstream = parseUpstream(endpoint);
  if (!upstream) return ['endpoint is not http://host:port, https://host:port or socks5://host:port'];
  const hasCredentials = upstream.username !== '' || upstream.password !== '';
  return hasCredentials ? ['endpoint has credentials in it; they belong to username and password'] : [];
}

function userNameProblems({ kind, username }: Partial<ProviderConfig>): string[] {
  if (kind === undefined || username === undefined) return [];
  if (kind === 'template') return templateProblems(username).map((problem) => `username: ${problem}`);
  const isPattern = /[[\]{}:]/.test(username);
  return isPattern ? ['username is the name of the account; a pattern needs the kind template'] : [];
}
