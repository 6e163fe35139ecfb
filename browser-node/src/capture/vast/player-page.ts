import { note } from '@adsweep/shared/capture/notes.ts';
import type { Frame } from 'playwright-core';
import type { Box } from '../box.ts';
import { COMMAND_MS } from '../devtools/devtools.ts';
import { evaluateInWorld, isolatedWorldOf } from '../devtools/isolated-world.ts';
import type { HarnessPage } from '../harness/harness-page.ts';
import { screenshotOfBox } from '../harness/see-creative.ts';
import {
  type PlayerCommand,
  playerCommand,
  type ResourceState,
  type ShownResource,
  type VideoState,
} from '../page-scripts/video-player.ts';
import { underLoad } from '../session/budgets.ts';
import type { CaptureSession } from '../session/capture-session.ts';

/**
 * The page of a video player. Every call has a deadline; it returns `null` after that, and when the page or the capture
 * has ended.
 */
export class PlayerPage {
  readonly #captureSession: CaptureSession;
  readonly harness: HarnessPage;
  #world: Promise<number> | undefined;
  /** Ids of everything that was shown, also of what was removed. */
  readonly #shown: string[] = [];

  constructor(captureSession: CaptureSession, harness: HarnessPage) {
    this.#captureSession = captureSession;
    this.harness = harness;
  }

  get url(): string {
    return this.harness.url;
  }

  /** Whether the page can no longer be called. */
  get isGone(): boolean {
    return this.#captureSession.ending.failure !== null || this.harness.page.isClosed();
  }

  state = (): Promise<VideoState | null> => this.#ask({ do: 'state' }) as Promise<VideoState | null>;
  box = (id = ''): Promise<Box | null> => this.#ask({ do: 'box', id }) as Promise<Box | null>;
  /** The centre of the player, or of a resource that is shown, in the viewport. */
  centre = (id = ''): Promise<Box | null> => this.#ask({ do: 'centre', id }) as Promise<Box | null>;
  /** Opens a page in a tab, for an ad that was clicked and asks for it. */
  async open(url: string): Promise<void> {
    await this.#ask({ do: 'open', url });
  }
  async mount(width: number, height: number): Promise<void> {
    await this.#ask({ do: 'mount', width, height });
  }
  async load(url: string): Promise<void> {
    await this.#ask({ do: 'load', url });
  }
  async play(rate: number): Promise<void> {
    await this.#ask({ do: 'play', rate });
  }
  /** Shows a resource; returns its id. */
  async show(resource: Omit<ShownResource, 'id'>): Promise<string> {
    const id = `shown-${this.#shown.length}`;
    this.#shown.push(id);
    await this.#ask({ do: 'show', resource: { ...resource, id } });
    return id;
  }
  resourceState = (id: string): Promise<ResourceState | null> =>
    this.#ask({ do: 'resource_state', id }) as Promise<ResourceState | null>;
  /** Removes resources by id, all of them by default. */
  async remove(ids: string[] = this.#shown): Promise<void> {
    if (ids.length > 0) await this.#ask({ do: 'remove', ids });
  }
  /** Sets what the next click on the player does: it requests the trackers and opens the URL. */
  async awaitClick(url: string, trackers: string[]): Promise<void> {
    await this.#ask({ do: 'await_click', url, trackers });
  }
  /** Clicks do nothing from now on; returns whether the player got the one that it waited for. */
  async endClick(): Promise<boolean> {
    return (await this.#ask({ do: 'end_click' })) === true;
  }
  async fire(urls: string[]): Promise<void> {
    if (urls.length > 0) await this.#ask({ do: 'fire', urls });
  }

  /** Runs a script in the page, in the player's isolated world. */
  async run<A, R>(script: (argument: A) => R, argument: A, deadlineMs = COMMAND_MS): Promise<Awaited<R> | null> {
    const { session } = this.harness.tab.tab;
    const timeoutMs = underLoad(this.#captureSession, deadlineMs);
    this.#world ??= isolatedWorldOf(session, session.targetId, timeoutMs);
    const answer = this.#world.then((world) => evaluateInWorld(session, world, script, argument, timeoutMs));
    return this.#captureSession.ending.race(answer.catch(() => null));
  }

  /** A screenshot of a part of the page, null where none could be taken. */
  async picture(box: Box | null): Promise<Buffer | null> {
    if (!box || box.width < 1 || box.height < 1) return null;
    const { ending, logger, notes } = this.#captureSession;
    const taking = screenshotOfBox(this.#captureSession, this.harness, box).catch((cause: unknown) => {
      logger.info({ cause }, 'no screenshot of a part of an ad could be taken');
      notes.push(note('creative_picture'));
      return null;
    });
    return ending.race(taking);
  }

  /** The frames of the page, the main frame first. */
  frames(): Frame[] {
    return this.harness.page.frames();
  }

  async pause(ms: number): Promise<void> {
    await this.#captureSession.ending.race(new Promise((resolve) => setTimeout(resolve, ms)));
  }

  async #ask(command: PlayerCommand): Promise<unknown> {
    return this.run(playerCommand, command);
  }
}
