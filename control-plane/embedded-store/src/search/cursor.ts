import { type Document, MongoAPIError, type Sort, type SortDirection } from 'mongodb';
import type { Cursor, FindCursor } from '../store-shape.ts';
import type { Fields } from '../stored-document.ts';
import { startTurn } from '../turn.ts';
import { type Component, sortComponents } from '../values/sort-order.ts';
import { type Projection, projectionOf } from './projection.ts';

export type FindShape = { order: readonly Component[]; skip: number; limit: number; projection: Projection | null };

/** What is found, one by one, while it is asked for; null is a pause. `read` is called once, at the first question. */
export class EmbeddedCursor<T> implements Cursor<T> {
  #read: () => Iterator<T | null>;
  #results: Iterator<T | null> | undefined;
  #turn = startTurn();
  #ahead: T | undefined;
  #closed = false;

  constructor(read: () => Iterator<T | null>) {
    this.#read = read;
  }

  protected get isStarted(): boolean {
    return this.#results !== undefined;
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

  async #take(): Promise<T | undefined> {
    if (this.#closed) return undefined;
    if (this.#ahead !== undefined) {
      const one = this.#ahead;
      this.#ahead = undefined;
      return one;
    }
    this.#results ??= this.#read();
    for (;;) {
      const { done, value } = this.#results.next();
      if (done) return undefined;
      if (value !== null) return value;
      await this.#turn.pause();
    }
  }
}

export class EmbeddedFindCursor<T> extends EmbeddedCursor<T> implements FindCursor<T> {
  #shape: FindShape;

  #explain: (shape: FindShape) => Document;

  constructor(
    shape: FindShape,
    read: (shape: FindShape) => Iterator<Fields | null>,
    explain: (shape: FindShape) => Document,
  ) {
    super(() => read(this.#shape) as Iterator<T | null>);
    this.#shape = shape;
    this.#explain = explain;
  }

  async explain(): Promise<Document> {
    return this.#explain(this.#shape);
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
    if (this.isStarted) throw new MongoAPIError('Cursor is already initialized');
    this.#shape = { ...this.#shape, ...change };
    return this;
  }
}
