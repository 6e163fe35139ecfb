import { newId } from '@adsweep/shared/ids.ts';
import { given } from '@adsweep/shared/validation/given.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import type { NodeIn } from './taxonomy-in.ts';

/** A node of a client's own taxonomy. `level` 1 is the broadest of 4; `position` counts among its siblings, from 0. */
export type TaxonomyNode = {
  id: string;
  parent_id: string | null;
  level: number;
  position: number;
  name: string;
  description: string;
  is_default: boolean;
};

/**
 * A client's own taxonomy: a tree of categories, one of which is assigned to each scan of the organization. `version`
 * counts the trees.
 */
export type TaxonomyRecord = {
  _id: string;
  organization_id: string;
  name: string;
  slug: string;
  description: string;
  is_active: boolean;
  version: number;
  nodes: TaxonomyNode[];
  created_at: Date;
  updated_at: Date;
};

export const LEVELS_MAX = 4;

/** The names from the broadest node to this one. */
export function pathTo(nodes: readonly TaxonomyNode[], node: TaxonomyNode): string[] {
  const byId = new Map(nodes.map((one) => [one.id, one]));
  const path: string[] = [];
  for (let at: TaxonomyNode | undefined = node; at; at = at.parent_id === null ? undefined : byId.get(at.parent_id))
    path.unshift(at.name);
  return path;
}

/** What is wrong with a client's tree; paths begin at the list of nodes. */
export function treeIssues(nodes: NodeIn[]): Issue[] {
  const byId = new Map(nodes.map((node) => [node.client_id, node]));
  const seen = { ids: new Set<string>(), names: new Set<string>(), defaults: 0 };
  return nodes.flatMap((node, at) => {
    const { client_id, parent_client_id = null, name, is_default = false } = node;
    const issue = (field: string, type: string, msg: string, value: unknown): Issue => {
      return { loc: [at, field], msg, type, ctx: given(value) };
    };
    const sibling = JSON.stringify([parent_client_id, name.trim().toLowerCase()]);
    const found = [
      ...(seen.ids.has(client_id) ? [issue('client_id', 'duplicate', 'Another node has this id.', client_id)] : []),
      ...(seen.names.has(sibling) ? [issue('name', 'duplicate', 'A sibling has this name.', name)] : []),
      ...(is_default && seen.defaults > 0
        ? [issue('is_default', 'duplicate', 'There is a default already.', true)]
        : []),
      ...parentIssues(byId, node, issue),
    ];
    seen.ids.add(client_id);
    seen.names.add(sibling);
    if (is_default) seen.defaults += 1;
    return found;
  });
}

type MakeIssue = (field: string, type: string, msg: string, value: unknown) => Issue;

function parentIssues(byId: Map<string, NodeIn>, node: NodeIn, issue: MakeIssue): Issue[] {
  const parent = node.parent_client_id ?? null;
  if (parent === null) return [];
  if (!byId.has(parent)) return [issue('parent_client_id', 'not_found', 'There is no such node.', parent)];
  if (levelOf(byId, node) <= LEVELS_MAX) return [];
  return [
    issue(
      'parent_client_id',
      'too_deep',
      `A taxonomy has at most ${LEVELS_MAX} levels, and no node is below itself.`,
      parent,
    ),
  ];
}

/** 1 for the broadest; more than the deepest level for a node in a cycle. */
function levelOf(byId: Map<string, NodeIn>, node: NodeIn): number {
  let level = 1;
  for (let at: NodeIn | undefined = node; at?.parent_client_id != null && level <= LEVELS_MAX; level++)
    at = byId.get(at.parent_client_id);
  return level;
}

/** The nodes of a tree without issues, in the order of the request, with new ids. */
export function treeOf(nodes: NodeIn[]): TaxonomyNode[] {
  const byId = new Map(nodes.map((node) => [node.client_id, node]));
  const ids = new Map(nodes.map(({ client_id }) => [client_id, newId()]));
  const positions = new Map<string | null, number>();
  return nodes.map((node): TaxonomyNode => {
    const { client_id, parent_client_id: parent = null, name, description = '', is_default = false } = node;
    const position = positions.get(parent) ?? 0;
    positions.set(parent, position + 1);
    const parent_id = parent === null ? null : ids.get(parent)!;
    const words = { name: name.trim(), description: description.trim(), is_default };
    return { id: ids.get(client_id)!, parent_id, level: levelOf(byId, node), position, ...words };
  });
}
