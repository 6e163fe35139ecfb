import type { ScanTaxonomy } from '../../scan/scan.ts';
import { pathTo, type TaxonomyNode, type TaxonomyRecord } from '../taxonomies/taxonomy.ts';

/**
 * A client's taxonomy as a model is offered it: nodes have short ids, so that a list costs little. `place` is where a scan belongs by the id
 * that was answered (null: none fits, which is the default node where there is one); null for an id that the list does not have.
 */
export type OfferedTaxonomy = { key: string; task: string; place(id: string | null): ScanTaxonomy | null };

export function offerTaxonomy(taxonomy: TaxonomyRecord, index: number): OfferedTaxonomy {
  const { name, description, nodes } = taxonomy;
  const [key, byId] = [`taxonomy_${index + 1}`, new Map(nodes.map((node, at) => [`n${at + 1}`, node]))];
  const lines = [...byId].map(([id, node]) => {
    const path = pathTo(nodes, node).join(' > ');
    return `${id} ${path}${node.description === '' ? '' : `: ${node.description}`}`;
  });
  const about = `${JSON.stringify(name)}${description === '' ? '' : ` (${description})`}`;
  return {
    key,
    task: `custom.${key}: one id of the client's list ${about}, the deepest that fits, copied exactly; null where none does:\n${lines.join('\n')}`,
    place: (id) => {
      if (id !== null) return byId.has(id) ? placeAt(taxonomy, byId.get(id)!, false) : null;
      return placeAt(taxonomy, nodes.find(({ is_default }) => is_default) ?? null, true);
    },
  };
}

function placeAt(
  { _id, name, slug, version, nodes }: TaxonomyRecord,
  node: TaxonomyNode | null,
  asDefault: boolean,
): ScanTaxonomy {
  const path = node ? pathTo(nodes, node) : [];
  return {
    ...{ taxonomy_id: _id, taxonomy_name: name, taxonomy_slug: slug, taxonomy_version: version },
    leaf_node_id: node?.id ?? null,
    ...{ tier1: path[0] ?? null, tier2: path[1] ?? null, tier3: path[2] ?? null, tier4: path[3] ?? null },
    used_default: asDefault && node !== null,
  };
}
