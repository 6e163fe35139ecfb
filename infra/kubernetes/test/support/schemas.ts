import * as keda from '@kubernetes-models/keda/keda.sh/v1alpha1';
import * as apps from 'kubernetes-models/apps/v1';
import * as autoscaling from 'kubernetes-models/autoscaling/v2';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import type { Manifest } from './render.ts';

type Tree = { [key: string | number]: unknown };
type Model = new (data: never) => { validate(): void };

const VERSIONS: Record<string, object> = {
  v1: core,
  'apps/v1': apps,
  'autoscaling/v2': autoscaling,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
  'keda.sh/v1alpha1': keda,
};

/** What Kubernetes' schema says against a manifest; null: nothing. */
function problemOf(manifest: Manifest): string | null {
  const model = (VERSIONS[manifest.apiVersion] as Record<string, Model> | undefined)?.[manifest.kind];
  if (!model) return `${manifest.apiVersion} has no ${manifest.kind}`;
  try {
    new model(manifest as never).validate();
    return null;
  } catch (error) {
    return String(error);
  }
}

/** Whatever a field may be, this is something else. */
const wrongFor = (value: unknown): unknown => (typeof value === 'object' ? 'wrong' : [[{}]]);

/** The paths of all values in a manifest. */
function* pathsOf(value: unknown, path: (string | number)[] = []): Generator<(string | number)[]> {
  if (path.length > 0) yield path;
  if (Array.isArray(value)) for (const [at, item] of value.entries()) yield* pathsOf(item, [...path, at]);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) yield* pathsOf(item, [...path, key]);
}

/**
 * What is wrong with a manifest by Kubernetes' schemas. They accept fields that they do not know, such as misspelt ones; so each value is replaced
 * by one that no known field may have, which the schema then has to refuse.
 */
export function problemsOf(manifest: Manifest): string[] {
  const name = `${manifest.kind} ${manifest.metadata.name}`;
  const problem = problemOf(manifest);
  if (problem !== null) return [`${name}: ${problem}`];
  return [...pathsOf(manifest)]
    .filter((path) => {
      const copy = structuredClone(manifest);
      const parent = path.slice(0, -1).reduce<Tree>((value, key) => value[key] as Tree, copy as unknown as Tree);
      parent[path.at(-1)!] = wrongFor(parent[path.at(-1)!]);
      return problemOf(copy) === null;
    })
    .map((path) => `${name}: ${path.join('.')} is no field that Kubernetes knows`);
}
