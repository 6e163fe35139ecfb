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

/** A client's own taxonomy: a tree of categories, one of which every scan of the organization gets. `version` counts its trees. */
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
