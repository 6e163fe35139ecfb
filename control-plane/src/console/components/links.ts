import type { Permission } from '../../http/caller.ts';
import { type Html, html, type Inserted } from '../../http/pages/html.ts';
import type { Visit } from '../visit.ts';

/**
 * A link to a page of the console for those who may read what is there; for others its text alone. `kind`: the class of
 * the link.
 */
export const linkFor = (
  { may, link }: Pick<Visit, 'may' | 'link'>,
  permission: Permission,
  path: string,
  text: Inserted,
  kind?: string,
): Html =>
  may(permission)
    ? html`<a${kind !== undefined && html` class="${kind}"`} href="${link(path)}">${text}</a>`
    : html`${text}`;
