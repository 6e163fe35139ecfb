import type { Lease } from '@adsweep/shared/lease/messages.ts';
import { CallRecorder, type CallTimes } from './call-times.ts';
import { type NodeCall, simulateNode } from './simulated-node.ts';

/** The configuration of a process of simulated nodes; the durations of captures are uniformly distributed between the two times. */
export type FleetPlan = {
  prefix: string;
  nodes: number;
  slots: number;
  captureMs: [least: number, most: number];
  nodeApiUrl: string;
  joinToken: string;
};
/** Messages of the parent: restart the measurement, report it, or drain all nodes, after which the process ends. */
export type FleetQuestion = 'reset' | 'read' | 'drain';
export type FleetMessage = { type: 'leased'; jobId: string } | { type: 'times'; times: FleetTimes };
export type FleetTimes = Partial<Record<NodeCall, CallTimes>>;

/** Many simulated nodes in one process: the plan is its argument. It ends with its parent. */
const { prefix, nodes, slots, captureMs, nodeApiUrl, joinToken } = JSON.parse(process.argv[2] ?? '{}') as FleetPlan;
const recorder = new CallRecorder();
const say = (message: FleetMessage) => process.send?.(message);
const [least, most] = captureMs;
const draining = new AbortController();

process.on('disconnect', () => process.exit());
process.on('message', (question: FleetQuestion) => {
  if (question === 'reset') recorder.reset();
  else if (question === 'drain') draining.abort();
  else say({ type: 'times', times: recorder.read() });
});
await Promise.all(
  Array.from({ length: nodes }, (_, at) =>
    simulateNode({
      ...{ nodeId: `${prefix}-${at}`, nodeApiUrl, joinToken, slots },
      captureMs: () => least + Math.random() * (most - least),
      leased: ({ job }: Lease) => say({ type: 'leased', jobId: job.job_id }),
      timed: recorder.timed,
      draining: draining.signal,
    }),
  ),
);
process.exit();
