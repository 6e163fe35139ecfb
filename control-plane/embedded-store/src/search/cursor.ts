import { awaitTurn, pause } from '@adsweep/shared/service/time-slice.ts';
import { type Document, MongoAPIError, type Sort, type SortDirection } from 'mongodb';
import type { FindCursor } from '../store-shape.ts';
import type { Fields } from '../stored-document.ts';
import { type Component, sortComponents } from '../values/sort-order.ts';
import { type Projection, projectionOf } from './projection.ts';
import type { TimeLimit } from './time-limit.ts';

export type FindShape = {
  order: readonly Component[];
  skip: number;
  limit: number;
  projection: Projection | null;
  timeLimit: TimeLimit;
};

/**
 * Results between two pauses, and the time that they may take: some of documents of a megabyte are as long as many
 * others.
 */
const RESULTS_AT_ONCE = 8;
const AT_ONCE_MS = 5;

/** How a cursor runs its search: the results, null where the search pauses for other work, and the plan. */
export type FindSource = { read(shape: FindShape): Iterator<Fields | null>; explain(shape: FindShape): Document };

/** Reads the results of a search one at a time. The search starts when the first result is requested. */
export class EmbeddedCursor<T> implements FindCursor<T> {
  #shape: FindShape;
  #source: FindSource;
  #results: Iterator<T | null> | undefined;
  #ahead: T | undefined;
  #closed = false;
  /** Results since the last pause, and the ms that they took. */
  #unpaused = 0;
  #unpausedMs = 0;

  constructor(shape: FindShape, source: FindSource) {
    this.#shape = shape;
    this.#source = source;
  }

  async next(): Promise<T | null> {
    return (await this.#take()) ?? null;
  }

  async hasNext(): Promise<boolean> {
    this.#ahead ??= await this.#take();
    return this.#ahead !== undefined;
  }

  async toArray(): Promise<T[]> {
    const all: T[] = [];
    for (let one = await this.#take(); one !== undefined; one = await this.#take()) all.push(one);
    return all;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ahead = undefined;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (let one = await this.#take(); one !== undefined; one = await this.#take()) yield one;
  }

  async explain(): Promise<Document> {
    return this.#source.explain(this.#shape);
  }

  sort(sort: Sort | string, direction?: SortDirection): FindCursor<T> {
    return this.#with({ order: sortComponents(sort, direction) });
  }

  skip(count: number): FindCursor<T> {
    return this.#with({ skip: count });
  }

  limit(count: number): FindCursor<T> {
    return this.#with({ limit: Math.abs(count) });
  }

  project<P extends object>(projection: object): FindCursor<P> {
    return this.#with({ projection: projectionOf(projection) }) as unknown as FindCursor<P>;
  }

  #with(change: Partial<FindShape>): FindCursor<T> {
    if (this.#results) throw new MongoAPIError('Cursor is already initialized');
    this.#shape = { ...this.#shape, ...change };
    return this;
  }

  async #take(): Promise<T | undefined> {
    if (this.#closed) return undefined;
    if (this.#ahead !== undefined) {
      const one = this.#ahead;
      this.#ahead = undefined;
      return one;
    }
    // Many documents that are large would be read in one turn.
    if (!this.#results) await awaitTurn();
    this.#results ??= this.#source.read(this.#shape) as Iterator<T | null>;
    for (;;) {
      const began = performance.now();
      const { done, value } = this.#shape.timeLimit.within(() => this.#results!.next());
      if (done) return undefined;
      this.#unpausedMs += performance.now() - began;
      if (value !== null) this.#unpaused += 1;
      // Deserializing many results takes long too; a short search does not wait for others.
      if (value === null || this.#unpaused > RESULTS_AT_ONCE || this.#unpausedMs > AT_ONCE_MS) {
        this.#unpaused = 0;
        this.#unpausedMs = 0;
        await pause();
      }
      if (value !== null) return value;
    }
  }
}
