import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { load, loadAll } from 'js-yaml';

export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [field: string]: unknown;
};
type Kustomization = { resources: string[]; namespace?: string };

/** The parts of a kustomization that ours use; a test fails when they use another one. */
const KNOWN = ['apiVersion', 'kind', 'resources', 'namespace'];
const WITHOUT_NAMESPACE = ['Namespace'];

/** The manifests of a kustomization, as `kubectl kustomize` renders those that only list resources and set a namespace. */
export function render(folder: string): Manifest[] {
  const file = load(readFileSync(join(folder, 'kustomization.yaml'), 'utf8')) as Kustomization;
  const unknown = Object.keys(file).filter((key) => !KNOWN.includes(key));
  if (unknown.length > 0) throw new Error(`${folder} uses ${unknown.join(', ')}, which this renderer does not know`);
  const manifests = file.resources.flatMap((path) => {
    const full = join(folder, path);
    return statSync(full).isDirectory() ? render(full) : (loadAll(readFileSync(full, 'utf8')) as Manifest[]);
  });
  const { namespace } = file;
  if (namespace === undefined) return manifests;
  return manifests.map((one) =>
    WITHOUT_NAMESPACE.includes(one.kind) ? one : { ...one, metadata: { ...one.metadata, namespace } },
  );
}
