import { createHash } from 'node:crypto';
import { registrableDomain } from '@adsweep/shared/urls/registrable-domain.ts';
import type { Box } from '../box.ts';
import type { NodeRef, PageIndex } from './page-index.ts';

/** Parts of ids that differ from load to load: long numbers, and hexadecimal ones. */
const RANDOM = /\d{4,}|(?=[a-f\d-]*\d)[a-f\d]{8,}(-[a-f\d]{4,})*|0?\.\d{4,}/gi;
/** Ids that are given by Chromium's or a framework's counting, or are random as a whole. */
const withoutRandom = (id: string): string => id.replace(RANDOM, '*');

/**
 * Describes where an element is by what stays the same when the page is loaded again: the path from the nearest ids,
 * frames included; without any id, by its position and size. Pure.
 */
export function describeSlot(page: PageIndex, ref: NodeRef, box: Box): string {
  const own = pathIn(page, ref);
  const { owner } = page.documentAt(ref.document);
  if (owner) return `${describeSlot(page, owner, box)} > ${own ?? placeOf(box)}`;
  return own ?? placeOf(box);
}

const placeOf = ({ x, y, width, height }: Box): string => [x, y, width, height].map((one) => Math.round(one)).join(' ');

/**
 * The path from the nearest element with an id; null: neither the element nor one around it has an id that says
 * something.
 */
function pathIn(page: PageIndex, ref: NodeRef): string | null {
  const steps: string[] = [];
  for (let at: NodeRef | null = ref; at; at = page.parentOf(at)) {
    const { tag, attributes } = page.node(at);
    const id = withoutRandom(attributes.id ?? '');
    if (/[a-z]{2}/i.test(id)) return [`#${id}`, ...steps].join('/');
    steps.unshift(`${tag}${nthOf(page, at)}`);
  }
  return null;
}

/** Which of its parent's elements of its kind an element is, from 0. */
function nthOf(page: PageIndex, ref: NodeRef): number {
  const { tag, parent } = page.node(ref);
  const siblings = page.childrenOf({ document: ref.document, node: parent });
  return siblings.filter((one) => page.node(one).tag === tag && one.node < ref.node).length;
}

/**
 * The identity of an ad block: its slot and its ad server. `nth`: which of the slots with this description it is, from
 * 0; `networkHost`: '' = not known. Pure.
 */
export const identityOf = (slot: string, nth: number, networkHost: string): string =>
  createHash('md5')
    .update(JSON.stringify([slot, nth, registrableDomain(networkHost)]))
    .digest('hex');
