import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linesOf, parseDrawn } from '../src/capture/collectors/drawn-text.ts';

const report = (...texts: [string, number, number][]) =>
  texts.map((text) => encodeURIComponent(text.join('|'))).join(',');

describe('the text that a page draws on its canvases', () => {
  it('is read as lines from top to bottom, whatever is drawn first', () => {
    const texts = parseDrawn(report(['is infected', 90, 42], ['Call now, free', 20, 80], ['Your PC', 20, 40]));
    assert.equal(linesOf(texts), 'Your PC is infected\nCall now, free');
  });

  it('is read as words where each letter is drawn by itself', () => {
    const letters = [...'Call us'].map((letter, at): [string, number, number] => [letter, 20 + at * 12, 40]);
    assert.equal(linesOf(parseDrawn(report(...letters.toReversed()))), 'Call us');
  });

  it('keeps separators of a report that are in a text, and leaves out what is no text', () => {
    assert.deepEqual(parseDrawn(`${report(['a|b,c', 1.5, -2])},%E0%A4%A,nothing,`), [{ text: 'a|b,c', x: 1.5, y: -2 }]);
  });

  it('takes linear time in its texts on one line, and little on as many lines as are kept', () => {
    const texts = Array.from({ length: 1_500 }, (_, at) => ({ text: 'word', x: at, y: at * 10 }));
    const since = process.cpuUsage().user;
    linesOf(texts);
    assert.ok(process.cpuUsage().user - since < 500_000);
  });
});
