import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadAll } from 'js-yaml';
import { missingSettings, settingsOf } from '../../compose/test/support/service-settings.ts';
import { newSecrets } from '../new-secrets.ts';
import { profileManifest } from '../seccomp-profile.ts';
import { type Manifest, render } from './support/render.ts';
import { problemsOf } from './support/schemas.ts';

const TOP = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(TOP, path), 'utf8');

type Port = { name: string; containerPort: number };
type Env = { name: string; value?: string };
type Container = {
  name: string;
  image: string;
  env?: Env[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: Port[];
  volumeMounts: { name: string; mountPath: string }[];
  resources: { requests: Record<string, string>; limits: Record<string, string> };
  securityContext: object;
  [probe: string]: unknown;
};
type Secret = { secretName: string; items?: { key: string; path: string }[] };
type Pod = {
  labels: Record<string, string>;
  spec: {
    containers: Container[];
    terminationGracePeriodSeconds?: number;
    securityContext: { runAsNonRoot?: boolean; seccompProfile: { type: string; localhostProfile?: string } };
    volumes?: { name: string; secret?: Secret }[];
    [field: string]: unknown;
  };
};

const WORKLOADS = ['Deployment', 'StatefulSet', 'DaemonSet'];
type Peer = { podSelector?: { matchLabels?: Record<string, string> }; ipBlock?: { cidr: string } };
type Rule = { to?: Peer[]; from?: Peer[]; ports: { port: number }[] };
type Policy = {
  podSelector: { matchLabels?: Record<string, string> };
  policyTypes: string[];
  ingress?: Rule[];
  egress?: Rule[];
};

const podOf = (manifest: Manifest): Pod => {
  const { template } = manifest.spec as {
    template: { metadata: { labels: Record<string, string> }; spec: Pod['spec'] };
  };
  return { labels: template.metadata.labels, spec: template.spec };
};
const ofKind = (manifests: Manifest[], ...kinds: string[]) => manifests.filter(({ kind }) => kinds.includes(kind));
const matches = (pod: Pod, labels: Record<string, string> = {}) =>
  Object.entries(labels).every(([key, value]) => pod.labels[key] === value);

const SERVICES = ['control-plane', 'proxy-router', 'browser-node'];
/** A number of the table in CAPACITY.md: the row `part`, in the column of so many scans a day. */
function planned(part: string, scansADay: string): number {
  const rows = read('infra/CAPACITY.md').matchAll(/^\|(.*)\|$/gm);
  const cells = [...rows].map(([, row = '']) => row.split('|').map((cell) => cell.trim()));
  const column = cells.find(([first]) => first === 'scans a day')!.indexOf(scansADay);
  return Number(cells.find(([first]) => first === part)![column]!.replaceAll(',', ''));
}

/** How many scans a day are too many for `part`, as CAPACITY.md has it. */
const breaksAt = (part: string): string =>
  new RegExp(`^\\| ([0-9,]+) \\| ${part} \\|`, 'm').exec(read('infra/CAPACITY.md'))![1]!;

/** Secrets of a large farm that its operator has. */
const OWN_SECRETS = ['mongodb-url', 's3-secret-key'];

for (const farm of ['small', 'large']) {
  describe(`a ${farm} farm`, () => {
    const manifests = render(join(TOP, 'infra/kubernetes', farm));
    const workloads = ofKind(manifests, ...WORKLOADS);
    const pods = workloads.map(podOf);
    const node = podOf(workloads.find(({ metadata }) => metadata.name === 'browser-node')!);

    it('has only fields of the schemas of Kubernetes and KEDA, with values that they allow', () => {
      assert.deepEqual(manifests.flatMap(problemsOf), []);
    });

    it('names settings that the services have, and secrets that are made and mounted', () => {
      const maps = new Map(ofKind(manifests, 'ConfigMap').map((map) => [map.metadata.name, map.data as object]));
      const made = Object.keys(newSecrets());
      for (const { spec } of pods) {
        const [container] = spec.containers as [Container];
        const secrets = spec.volumes?.find(({ name }) => name === 'secrets')?.secret?.items ?? [];
        for (const { key } of secrets) assert.ok([...made, ...OWN_SECRETS].includes(key), key);
        if (!SERVICES.includes(container.name)) continue;
        const known = settingsOf(container.name);
        const ofMaps = (container.envFrom ?? []).flatMap(({ configMapRef: { name } }) => Object.keys(maps.get(name)!));
        for (const name of [...ofMaps, ...(container.env ?? []).map((one) => one.name)].filter(
          (one) => one !== 'POD_IP',
        ))
          assert.ok(known.has(name.replace(/_FILE$/, '')) || known.has(name), `${container.name}: ${name}`);
        for (const { name, value = '' } of container.env ?? [])
          if (value.startsWith('/secrets/'))
            assert.ok(
              secrets.some(({ path }) => value === `/secrets/${path}`),
              `${container.name}: ${name}`,
            );
      }
    });

    it('passes what an operator sets to every service that reads it', () => {
      const maps = new Map(ofKind(manifests, 'ConfigMap').map((map) => [map.metadata.name, map.data as object]));
      const passed = SERVICES.map((name) => [name, Object.keys(maps.get(`settings-${name}`)!)] as const);
      assert.deepEqual(missingSettings(Object.fromEntries(passed)), []);
    });

    it('keeps data in a folder that the process makes in its volume, which itself belongs to root and is open to all', () => {
      const keeping = pods
        .map(({ spec }) => spec.containers[0]!)
        .filter(({ name, volumeMounts }) => SERVICES.includes(name) && volumeMounts.some((one) => one.name === 'data'));
      assert.equal(keeping.length, farm === 'small' ? 2 : 4);
      for (const { name, env, volumeMounts } of keeping) {
        const { mountPath } = volumeMounts.find((one) => one.name === 'data')!;
        const folder = env?.find((one) => one.name === 'ADSWEEP_DATA_DIR')?.value ?? '';
        assert.ok(folder.startsWith(`${mountPath}/`), `${name}: ${folder}`);
      }
    });

    it('passes the address of a remote browser to browser nodes alone, from a key of the secret that may be absent', () => {
      const secretKeyRef = { name: 'secrets', key: 'browser-cdp-url', optional: true };
      for (const { spec } of pods) {
        const found = spec.containers[0]?.env?.find(({ name }) => name === 'BROWSER_CDP_URL');
        const expected = { name: 'BROWSER_CDP_URL', valueFrom: { secretKeyRef } };
        assert.deepEqual(found, spec === node.spec ? expected : undefined);
      }
    });

    it('runs images of the Dockerfile in this version, with every mount, port and probe', () => {
      const { version } = JSON.parse(read('package.json')) as { version: string };
      const dockerfile = read('infra/docker/Dockerfile');
      for (const { spec } of pods)
        for (const container of spec.containers) {
          const [, ours] = /^adsweep\/([a-z-]+):/.exec(container.image) ?? [];
          if (ours) {
            assert.equal(container.image, `adsweep/${ours}:${version}`);
            assert.match(dockerfile, new RegExp(`^FROM runtime AS ${ours}$`, 'm'));
            for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
              const { httpGet } = container[kind] as { httpGet: { path: string; port: string } };
              assert.match(httpGet.path, /^\/(healthz|readyz)$/);
              assert.ok(container.ports?.some(({ name }) => name === httpGet.port));
            }
          }
          const volumes = new Set([...(spec.volumes ?? []).map(({ name }) => name), 'data']);
          for (const { name } of container.volumeMounts) assert.ok(volumes.has(name), `${container.name}: ${name}`);
          assert.ok(
            container.resources.requests.cpu &&
              container.resources.requests.memory &&
              container.resources.limits.memory,
          );
        }
    });

    it('has pods for every service, policy, budget and scaler, on the ports that these name', () => {
      for (const { spec, metadata } of ofKind(manifests, 'Service')) {
        const { selector, ports } = spec as {
          selector: Record<string, string>;
          ports: { port: number; targetPort: string }[];
        };
        const behind = pods.filter((pod) => matches(pod, selector));
        assert.ok(behind.length > 0, metadata.name);
        for (const pod of behind)
          for (const { port, targetPort } of ports)
            assert.equal(pod.spec.containers[0]?.ports?.find(({ name }) => name === targetPort)?.containerPort, port);
      }
      for (const { spec, metadata } of ofKind(manifests, 'NetworkPolicy')) {
        const { podSelector, ingress = [], egress = [] } = spec as Policy;
        const here = pods.filter((pod) => matches(pod, podSelector.matchLabels));
        assert.ok(here.length > 0, metadata.name);
        const opens = (some: Pod[], port: number) => {
          for (const pod of some)
            assert.ok(
              pod.spec.containers[0]?.ports?.some((one) => one.containerPort === port),
              metadata.name,
            );
        };
        for (const { ports } of ingress) for (const { port } of ports) opens(here, port);
        for (const { to = [], ports } of egress)
          for (const { podSelector: there } of to) {
            if (!there) continue;
            const behind = pods.filter((pod) => matches(pod, there.matchLabels));
            assert.ok(behind.length > 0, metadata.name);
            for (const { port } of ports) opens(behind, port);
          }
      }
      for (const { spec } of ofKind(manifests, 'PodDisruptionBudget')) {
        const { selector } = spec as { selector: { matchLabels: Record<string, string> } };
        assert.ok(pods.some((pod) => matches(pod, selector.matchLabels)));
      }
      for (const { spec } of ofKind(manifests, 'HorizontalPodAutoscaler', 'ScaledObject')) {
        const { name } = (spec as { scaleTargetRef: { name: string } }).scaleTargetRef;
        const target = workloads.find(({ metadata }) => metadata.name === name)!;
        // Applying the manifests again must not reset what the scaler has set.
        assert.equal((target.spec as { replicas?: number }).replicas, undefined);
      }
    });

    it('runs every role but that of the scaler somewhere', () => {
      const [, list = ''] =
        /Roles of this process, separated by commas: (.*?)\. Empty/.exec(read('control-plane/README.md')) ?? [];
      const all = [...list.matchAll(/`([a-z-]+)`/g)].map(([, role]) => role!);
      assert.ok(all.length > 5);
      const planes = pods.map(({ spec }) => spec.containers[0]!).filter(({ name }) => name === 'control-plane');
      const run = planes.flatMap(
        ({ env = [] }) => env.find(({ name }) => name === 'ADSWEEP_ROLES')?.value?.split(',') ?? all,
      );
      assert.deepEqual([...new Set([...run, 'scaler'])].sort(), all.toSorted());
    });

    it('gives no pod more than it needs', () => {
      for (const { spec } of pods) {
        assert.equal(spec.automountServiceAccountToken, false);
        assert.equal(spec.securityContext.runAsNonRoot, true);
        for (const { securityContext } of spec.containers)
          assert.deepEqual(securityContext, {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
      }
      const nodeSecrets = node.spec.volumes?.find(({ secret }) => secret)?.secret?.items?.map(({ key }) => key);
      assert.deepEqual(nodeSecrets, ['node-token', 'metrics-token']);
    });

    it('lets a node reach the node API, the router and its gateway, and nothing else', () => {
      const policies = ofKind(manifests, 'NetworkPolicy').map(({ spec }) => spec as Policy);
      const out = policies.filter(
        ({ podSelector, policyTypes }) => policyTypes.includes('Egress') && matches(node, podSelector.matchLabels),
      );
      assert.equal(out.length, 1);
      const reached = out[0]!.egress!.flatMap(({ to = [], ports }) =>
        to.flatMap(({ podSelector, ...other }) => {
          assert.deepEqual(other, {});
          return ports.map(({ port }) => `${Object.values(podSelector!.matchLabels!)} ${port}`);
        }),
      );
      assert.deepEqual(reached, ['true 8081', 'proxy-router 8082', 'proxy-router 8083']);
      // Without DNS, the addresses are those that Kubernetes puts into the environment, by the names of the services.
      assert.equal(node.spec.dnsPolicy, 'None');
      const services = ofKind(manifests, 'Service').map(({ metadata }) => metadata.name);
      for (const { value = '' } of node.spec.containers[0]!.env!)
        for (const [, name = ''] of value.matchAll(/\$\((\w+)_SERVICE_HOST\)/g))
          assert.ok(services.includes(name.toLowerCase().replaceAll('_', '-')), name);
    });

    it('waits 10 s longer for a pod to end than it may drain', () => {
      for (const { spec } of pods)
        for (const { env = [] } of spec.containers) {
          const drain = Number(env.find(({ name }) => name === 'ADSWEEP_DRAIN_SECONDS')?.value ?? 0);
          assert.ok(drain === 0 || spec.terminationGracePeriodSeconds! >= drain + 10);
        }
    });

    it('follows the documented metric, up to what the plan says', () => {
      const [scaler] = ofKind(manifests, 'ScaledObject');
      type Scaling = { maxReplicaCount: number; triggers: { metadata: { query: string; threshold: string } }[] };
      const { triggers, maxReplicaCount } = scaler!.spec as Scaling;
      assert.deepEqual(
        triggers.map(({ metadata: { query, threshold } }) => [query, threshold]),
        [['max(adsweep_desired_nodes)', '1']],
      );
      assert.match(read('infra/docs/metrics.md'), /`adsweep_desired_nodes`/);
      assert.equal(maxReplicaCount, planned('nodes of 2 cores', farm === 'small' ? '100,000' : '10,000,000'));
    });

    it('has as many processes as the plan says, and names the numbers of the plan', () => {
      const most = (component: string) =>
        ofKind(manifests, 'HorizontalPodAutoscaler')
          .filter(({ metadata }) => metadata.name.startsWith(component))
          .reduce((sum, { spec }) => sum + (spec as { maxReplicas: number }).maxReplicas, 0);
      const [scaler] = ofKind(manifests, 'ScaledObject');
      const { maxReplicaCount } = scaler!.spec as { maxReplicaCount: number };
      const ofFarm = (file: string) => read(`infra/kubernetes/${farm}/${file}`);
      const oneProcess = breaksAt('one process of the control plane');
      const size = farm === 'small' ? `up to ${oneProcess} scans` : `from ${oneProcess} scans`;
      assert.ok(ofFarm('kustomization.yaml').includes(size), size);
      if (farm === 'small') {
        assert.ok(ofFarm('control-plane.yaml').includes(`breaks at ${oneProcess} scans`));
        assert.ok(read('infra/kubernetes/README.md').includes(`up to ${maxReplicaCount} nodes: ${oneProcess} scans`));
        return;
      }
      assert.equal(most('control-plane'), planned('control planes', '10,000,000'));
      assert.equal(most('proxy-router'), planned('proxy-routers', '10,000,000'));
      assert.ok(ofFarm('proxy-router-scaling.yaml').includes(`per ${breaksAt('one proxy-router')} scans a day`));
      assert.ok(read('infra/kubernetes/README.md').includes(`up to ${maxReplicaCount} nodes: ten million scans`));
    });
  });
}

it('a Redis refuses jobs before its container reaches its limit, on Kubernetes and in a Swarm', () => {
  const [, megabytes] = /^maxmemory (\d+)mb$/m.exec(newSecrets()['redis.conf']!) ?? [];
  const small = ofKind(render(join(TOP, 'infra/kubernetes/small')), 'StatefulSet').map(podOf);
  const redis = small.flatMap(({ spec }) => spec.containers).find(({ name }) => name === 'redis')!;
  const [, swarm] = /^ {2}redis:\n.*?limits: \{ memory: (\d+)M \}/ms.exec(read('infra/swarm/stack.yaml')) ?? [];
  for (const limit of [redis.resources.limits.memory!.replace('Mi', ''), swarm])
    assert.ok(Number(megabytes) <= Number(limit) * 0.75, limit);
});

it('finds a misspelt field, a wrong value and an unknown kind', () => {
  const node = render(join(TOP, 'infra/kubernetes/small')).find(({ kind }) => kind === 'ScaledObject')!;
  const spec = node.spec as object;
  assert.match(problemsOf({ ...node, spec: { ...spec, maxReplicas: 3 } })[0]!, /spec\.maxReplicas is no field/);
  assert.match(problemsOf({ ...node, spec: { ...spec, maxReplicaCount: 'many' } })[0]!, /maxReplicaCount/);
  assert.match(problemsOf({ ...node, kind: 'ScaleObject' })[0]!, /has no ScaleObject/);
});

describe('the profile of the sandbox', () => {
  const manifests = render(join(TOP, 'infra/kubernetes/seccomp'));

  it('has only fields of the schemas of Kubernetes, and is where nodes look for it', () => {
    assert.deepEqual(manifests.flatMap(problemsOf), []);
    const [installer] = ofKind(manifests, 'DaemonSet');
    assert.match(JSON.stringify(installer), /"\/var\/lib\/kubelet\/seccomp\/adsweep"/);
    const node = read('infra/kubernetes/base/browser-node.yaml');
    assert.match(node, /localhostProfile: adsweep\/seccomp-chromium\.json/);
  });

  it('follows from that of Docker, without the calls that need a capability', () => {
    assert.equal(read('infra/kubernetes/seccomp/profile.yaml'), profileManifest());
    const [map] = ofKind(manifests, 'ConfigMap');
    const profile = JSON.parse((map!.data as Record<string, string>)['seccomp-chromium.json']!) as {
      syscalls: { names: string[]; action: string; args?: object[] }[];
    };
    const free = profile.syscalls.filter(({ args }) => !args).flatMap(({ names }) => names);
    for (const name of ['unshare', 'chroot', 'clone', 'read', 'arch_prctl']) assert.ok(free.includes(name), name);
    for (const name of ['mount', 'bpf', 'init_module', 'reboot', 'syslog', 'pivot_root'])
      assert.ok(!free.includes(name), name);
  });
});

const kubectl = spawnSync('kubectl', ['version', '--client'], { encoding: 'utf8' });
it('is rendered by kubectl as these tests read it', { skip: kubectl.status !== 0 && 'there is no kubectl' }, () => {
  const byName = (all: Manifest[]) => new Map(all.map((one) => [`${one.kind} ${one.metadata.name}`, one]));
  for (const folder of ['small', 'large', 'seccomp']) {
    const { stdout } = spawnSync('kubectl', ['kustomize', join(TOP, 'infra/kubernetes', folder)], { encoding: 'utf8' });
    assert.deepEqual(byName(loadAll(stdout) as Manifest[]), byName(render(join(TOP, 'infra/kubernetes', folder))));
  }
});
