/**
 * What a scaled node does. `starting`: its container runs, and it has not reported yet. `silent`: it does not report,
 * although it had the time to. `dead`: its container has ended by itself; `ended`: after its drain. `blocked`: by the
 * operator, and left alone, whatever it does.
 */
export type ScaledNodeState = 'starting' | 'working' | 'silent' | 'draining' | 'drained' | 'dead' | 'ended' | 'blocked';

/** A node whose container the scaler has created. `image`: the id of its image; `since`: when it was created, in ms. */
export type ScaledNode = {
  name: string;
  host: string;
  image: string;
  state: ScaledNodeState;
  busy: number;
  since: number;
  isToDrain: boolean;
};

/**
 * A Docker host. `image`: the id there of the image that nodes are to have; null: the image is missing, or the host
 * does not answer.
 */
export type ScaledHost = { name: string; isReachable: boolean; image: string | null; min: number; max: number };

/**
 * The farm at `now` (ms). `desired`: nodes that the work needs; `others`: working nodes that the scaler has not
 * created.
 */
export type FarmView = { now: number; desired: number; others: number; hosts: ScaledHost[]; nodes: ScaledNode[] };

/** Bounds of all hosts together. A need counts for `coolDownMs` after it has passed: nodes are drained no sooner. */
export type ScalingLimits = { min: number; max: number; coolDownMs: number };

/** Nodes of an image that failed on a host, one after another without one that works, and when the last one did. */
type Failures = { count: number; at: number };

/**
 * What a step leaves for the next one. `needs` are falling: the first is the highest of the cool-down. `silentSince`:
 * when each silent node, by its name, was first seen so; `reportedSince`: since when each step has seen some node
 * report, null: the last one saw none, or failed.
 */
export type ScalingMemory = {
  startedAt: number;
  needs: readonly { at: number; desired: number }[];
  failures: Readonly<Record<string, Failures>>;
  silentSince: Readonly<Record<string, number>>;
  reportedSince: number | null;
};

/** One thing to do. `stop`: ask a drained node to end; `remove`: its container, whatever it does. */
export type ScalingAction =
  | { do: 'start'; host: string; image: string; reason: string }
  | { do: 'drain' | 'stop' | 'remove'; host: string; node: string; reason: string };

/** `held`: what should be done and cannot be at the moment, with the reasons. */
export type ScalingDecision = { target: number; actions: ScalingAction[]; held: string[]; memory: ScalingMemory };

/** Nodes that one step starts at most. */
const STARTED_AT_ONCE = 10;
/** After so many failures in a row, an image counts as bad: nodes that the work needs get the one that works. */
const BAD_AFTER = 3;
const [BACKOFF_MS, BACKOFF_MAX_MS] = [30_000, 900_000];
/**
 * A node that is silent for this long is replaced, and removed if others have reported for as long. Reports of a
 * working node are missing for some seconds after Redis has lost its data, or the node API was unavailable.
 */
const SILENT_MS = 60_000;
/** While no node reports, one that is silent for this long is replaced, if no host has room. */
const GIVEN_UP_MS = 600_000;

export const newMemory = (now: number): ScalingMemory => ({
  startedAt: now,
  needs: [],
  failures: {},
  silentSince: {},
  reportedSince: null,
});

/** Decides what to do next. Pure: the same view and memory give the same decision. */
export function decideScaling(view: FarmView, before: ScalingMemory, limits: ScalingLimits): ScalingDecision {
  const step = new Step(view, before, limits);
  step.removeEnded();
  step.startMissing();
  step.drainSurplus();
  step.replaceOutdated();
  return step.decision();
}

class Step {
  readonly #view: FarmView;
  readonly #failures: Record<string, Failures>;
  readonly #needs: ScalingMemory['needs'];
  readonly #startedAt: number;
  readonly #silentSince: ScalingMemory['silentSince'];
  readonly #reportedSince: ScalingMemory['reportedSince'];
  /** The name of the node that is given up in this step. */
  readonly #givenUp: string | undefined;
  readonly #target: number;
  readonly #actions: ScalingAction[] = [];
  readonly #held: string[] = [];

  constructor(view: FarmView, before: ScalingMemory, limits: ScalingLimits) {
    const { now, desired } = view;
    this.#view = view;
    this.#startedAt = before.startedAt;
    const silent = view.nodes.filter(({ state }) => state === 'silent');
    this.#silentSince = Object.fromEntries(silent.map(({ name }) => [name, before.silentSince[name] ?? now]));
    this.#reportedSince = isAnyReporting(view) ? (before.reportedSince ?? now) : null;
    this.#givenUp = this.#toGiveUp()?.name;
    this.#failures = failuresAfter(view, before.failures, (node) => this.#hasFailed(node));
    const recent = before.needs.filter(({ at, desired: then }) => at > now - limits.coolDownMs && then > desired);
    this.#needs = [...recent, { at: now, desired }];
    // Before it has watched for as long as the cool-down it does not know how much was needed, and drains nothing.
    const isNew = now - this.#startedAt < limits.coolDownMs;
    const most = Math.max(this.#needs[0]!.desired, isNew ? Math.min(this.#have(), limits.max) : 0);
    this.#target = Math.min(Math.max(most, limits.min), limits.max);
  }

  decision(): ScalingDecision {
    const memory = {
      startedAt: this.#startedAt,
      needs: this.#needs,
      failures: this.#failures,
      silentSince: this.#silentSince,
      reportedSince: this.#reportedSince,
    };
    return { target: this.#target, actions: this.#actions, held: this.#held, memory };
  }

  removeEnded(): void {
    if (this.#reportedSince === null && Object.keys(this.#silentSince).length > 0)
      this.#held.push('all nodes are silent: the node API is more likely at fault than each of them');
    for (const one of this.#view.nodes) {
      const { name: node, host, state } = one;
      if (state === 'drained') this.#actions.push({ do: 'stop', host, node, reason: 'it has finished its work' });
      if (state === 'ended') this.#actions.push({ do: 'remove', host, node, reason: 'it has ended after its drain' });
      if (this.#hasFailed(one)) {
        const reason = state === 'dead' ? 'it has ended by itself' : 'its container runs, but it does not report';
        this.#actions.push({ do: 'remove', host, node, reason });
      }
    }
  }

  startMissing(): void {
    for (const host of this.#view.hosts.filter(({ isReachable }) => isReachable))
      for (let count = this.#live(host); count < host.min; count += 1)
        this.#startOn([host], `the host is to have at least ${host.min}`);
    const missing = this.#target - this.#have();
    for (let count = 0; count < missing; count += 1)
      if (!this.#startOn(this.#view.hosts, `${this.#target} nodes are needed, ${this.#have()} are there`)) break;
  }

  drainSurplus(): void {
    const { hosts, nodes, others } = this.#view;
    const working = others + nodes.filter(({ state }) => state === 'working').length;
    if (this.#started().length > 0) return;
    const left = new Map(hosts.map((host) => [host.name, this.#live(host) - host.min]));
    const isOutdated = ({ host, image }: ScaledNode) => image !== this.#imageOf(host);
    const candidates = nodes
      .filter(({ state }) => state === 'working')
      .sort((a, b) => Number(isOutdated(b)) - Number(isOutdated(a)) || a.busy - b.busy || a.since - b.since);
    // A node that starts may fail: it replaces none before it works.
    let surplus = working - this.#target;
    for (const node of candidates) {
      const spare = left.get(node.host) ?? 0;
      if (surplus <= 0 || spare <= 0) continue;
      const why = isOutdated(node)
        ? 'another one with the new image works'
        : `more than ${this.#target} were not needed for a while`;
      this.#drain(node, `${working} nodes work, ${why}`);
      left.set(node.host, spare - 1);
      surplus -= 1;
    }
  }

  /** One node at a time, the new one first where the host has room for both. */
  replaceOutdated(): void {
    const { hosts, nodes } = this.#view;
    const isCalm =
      this.#actions.every((action) => action.do === 'remove') &&
      nodes.every(({ state }) => state !== 'starting' && state !== 'draining' && state !== 'drained');
    if (!isCalm) return;
    for (const host of hosts) {
      const outdated = nodes.find(
        (node) => node.host === host.name && node.state === 'working' && node.image !== host.image,
      );
      if (!outdated || host.image === null) continue;
      const failed = this.#failures[keyOf(host.name, host.image)]?.count ?? 0;
      if (!this.#mayStart(host.name, host.image))
        this.#held.push(`nodes with the new image fail on ${host.name}: ${failed} in a row`);
      else if (this.#occupied(host) < host.max)
        this.#actions.push({
          do: 'start',
          host: host.name,
          image: host.image,
          reason: `replaces ${outdated.name}, which has another image`,
        });
      else if (failed < BAD_AFTER) this.#drain(outdated, 'it has another image, and the host has no room for one more');
      else continue;
      return;
    }
  }

  #startOn(hosts: ScaledHost[], reason: string): boolean {
    if (this.#started().length >= STARTED_AT_ONCE) return false;
    const withRoom = hosts.filter((host) => host.isReachable && this.#occupied(host) < host.max);
    const free = withRoom.flatMap((host) => {
      const image = this.#imageToStart(host);
      return image === null ? [] : [{ host, image }];
    });
    const [best] = free.sort((a, b) => this.#occupied(a.host) / a.host.max - this.#occupied(b.host) / b.host.max);
    if (best) this.#actions.push({ do: 'start', host: best.host.name, image: best.image, reason });
    else
      this.#held.push(
        `${reason}: ${withRoom.length === 0 ? 'no host has room' : 'nodes fail, or the image is missing, on every host with room'}`,
      );
    return best !== undefined;
  }

  /**
   * The image that is wanted; one that works on the host, if nodes with the wanted one fail; null: no node may be
   * started now.
   */
  #imageToStart({ name, image }: ScaledHost): string | null {
    const isBad = image === null || (this.#failures[keyOf(name, image)]?.count ?? 0) >= BAD_AFTER;
    const proven = this.#view.nodes.find(
      (node) => node.host === name && node.state === 'working' && node.image !== image,
    );
    const chosen = isBad && proven ? proven.image : image;
    return chosen !== null && this.#mayStart(name, chosen) ? chosen : null;
  }

  #mayStart(host: string, image: string): boolean {
    const failures = this.#failures[keyOf(host, image)];
    if (!failures) return true;
    const pauseMs = Math.min(BACKOFF_MS * 2 ** (failures.count - 1), BACKOFF_MAX_MS);
    return this.#view.now >= failures.at + pauseMs;
  }

  /** Whether it has ended by itself, is given up, or is silent for long while others report. */
  #hasFailed({ name, state }: ScaledNode): boolean {
    if (state === 'dead' || name === this.#givenUp) return true;
    return this.#isSilentForLong(name) && isOver(this.#reportedSince, this.#view.now);
  }

  /**
   * While no node reports and no host has room to try another one: the one that is silent the longest, which makes room
   * for it. It is one at a time: if the node API is at fault, the others report again when it is back.
   */
  #toGiveUp(): ScaledNode | undefined {
    const { now, hosts, nodes } = this.#view;
    const isFull = (host: ScaledHost) => host.image === null || this.#occupied(host) >= host.max;
    const isTrying = nodes.some(({ state }) => state === 'starting');
    if (this.#reportedSince !== null || isTrying || !hosts.every(isFull)) return undefined;
    const since = ({ name }: ScaledNode) => this.#silentSince[name] ?? now;
    return nodes
      .filter((node) => isOver(since(node), now, GIVEN_UP_MS) && this.#imageOf(node.host) !== null)
      .sort((a, b) => since(a) - since(b))[0];
  }

  #isSilentForLong(name: string): boolean {
    return isOver(this.#silentSince[name] ?? null, this.#view.now);
  }

  #drain({ name: node, host }: ScaledNode, reason: string): void {
    this.#actions.push({ do: 'drain', host, node, reason });
  }

  #imageOf(host: string): string | null {
    return this.#view.hosts.find(({ name }) => name === host)?.image ?? null;
  }

  #started() {
    return this.#actions.filter((action) => action.do === 'start');
  }

  #liveNodes(): ScaledNode[] {
    const isLive = ({ name, state, isToDrain }: ScaledNode) =>
      state === 'starting' || state === 'working' || (state === 'silent' && !isToDrain && !this.#isSilentForLong(name));
    return this.#view.nodes.filter(isLive);
  }

  /** Nodes that work, or probably do or will, with those that this step starts. */
  #have(): number {
    return this.#view.others + this.#liveNodes().length + this.#started().length;
  }

  #live({ name }: ScaledHost): number {
    return [...this.#liveNodes(), ...this.#started()].filter(({ host }) => host === name).length;
  }

  /** Containers that use the host, with those that this step starts. */
  #occupied({ name }: ScaledHost): number {
    const running = this.#view.nodes.filter((node) => node.state !== 'ended' && !this.#hasFailed(node));
    return [...running, ...this.#started()].filter(({ host }) => host === name).length;
  }
}

/** Whether any node of the farm reports. */
const isAnyReporting = ({ others, nodes }: FarmView): boolean =>
  others > 0 || nodes.some(({ state }) => ['working', 'draining', 'drained'].includes(state));

const isOver = (since: number | null, now: number, ms = SILENT_MS): boolean => since !== null && now - since >= ms;

const keyOf = (host: string, image: string): string => `${host} ${image}`;

/** Counts the nodes that failed now; one that works and is younger than the last failure ends the row. */
function failuresAfter(
  { now, hosts, nodes }: FarmView,
  before: ScalingMemory['failures'],
  hasFailed: (node: ScaledNode) => boolean,
): Record<string, Failures> {
  const inUse = new Set([
    ...hosts.map(({ name, image }) => keyOf(name, image ?? '')),
    ...nodes.map(({ host, image }) => keyOf(host, image)),
  ]);
  const after: Record<string, Failures> = {};
  for (const [key, failures] of Object.entries(before)) if (inUse.has(key)) after[key] = failures;
  for (const node of nodes) {
    const { host, image, state, since, isToDrain } = node;
    const key = keyOf(host, image);
    const known = after[key];
    if (state === 'working' && known && since > known.at) delete after[key];
    if (hasFailed(node) && !isToDrain) after[key] = { count: (after[key]?.count ?? 0) + 1, at: now };
  }
  return after;
}
