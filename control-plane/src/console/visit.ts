import type { Permission } from '../http/caller.ts';
import type { Html } from '../http/pages/html.ts';
import type { Answer } from '../http/route.ts';
import type { PageRequest } from '../http/serve-console.ts';
import type { ConsoleApi, Query } from './api/console-api.ts';
import type { Schemas } from './api/schemas.ts';
import type { Problems } from './components/problems.ts';

/** A request of a person who is signed in, for a page. */
export type Visit = {
  api: ConsoleApi;
  who: Schemas['Credential'];
  may: (permission: Permission) => boolean;
  /** The ids in the path of the page. */
  params: Record<string, string>;
  query: URLSearchParams;
  /** The form that was sent; empty for a page that is only read. */
  form: URLSearchParams;
  /** The address of a page of the console; `path` begins with a slash. */
  link: (path: string, query?: Query) => string;
  /** The address of what the documents say about an error of the API or a failure of a scan, by its code. */
  helpOn: (code: string) => string;
  /** The hidden field that makes a form one of this session. */
  token: () => Html;
  /** The base URL that clients use. */
  publicUrl: string;
  request: PageRequest;
  now: Date;
  /** For how many seconds the page has been open whose regions its script reads again; 0: it is loaded. */
  openSeconds: number;
};

/**
 * Whether a page reads a part of it that rarely changes: when it is loaded, then every `every` seconds. Its script
 * leaves regions that are missing as they are. `everySeconds`: that of the page.
 */
export const isDue = ({ openSeconds }: Pick<Visit, 'openSeconds'>, everySeconds: number, every: number): boolean =>
  openSeconds % every < everySeconds;

/**
 * A page. `everySeconds`: how often its regions (`data-region`) are read again by its script; `events`: the address of
 * an event stream, after each event of which they are.
 */
export type Page = {
  title: string;
  /** The line above the title, such as a way back. */
  above?: Html | null | false;
  actions?: Html | Html[] | null | false;
  body: Html;
  status?: number;
  everySeconds?: number;
  events?: string;
  problems?: Problems;
};

export type PageResult = Page | { redirect: string } | { answer: Answer };

/**
 * A page of the console, or the target of one of its forms. `path`: below `/console`, with parameters such as `{id}`.
 * `needs`: the permission without which a form cannot be sent, and is not shown; what a page reads and changes the API
 * decides.
 */
export type PageRoute = {
  method: 'GET' | 'POST';
  path: string;
  needs?: Permission;
  handle: (visit: Visit) => Promise<PageResult> | PageResult;
};
