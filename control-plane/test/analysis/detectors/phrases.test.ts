import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { linksOf } from '../../../src/analysis/detectors/deception/markup.ts';
import { findPhrase } from '../../../src/analysis/detectors/deception/phrase.ts';
import { readableText } from '../../../src/analysis/detectors/deception/seen-page.ts';
import { PAGE } from '../../support/detected.ts';

describe('phrases and links', () => {
  it('a phrase is within one sentence', () => {
    const phrase = { all: [['locked'], ['your computer']], unless: ['if '] };
    assert.equal(findPhrase('see: your computer is locked. go', phrase), 'see: your computer is locked.');
    assert.equal(findPhrase('your computer is new. the door is locked.', phrase), null);
    assert.equal(findPhrase('if your computer is locked', phrase), null);
    assert.equal(findPhrase(`your computer ${'x'.repeat(200)} locked`, phrase), null);
  });

  it('a readable text has one case and one width, and no invisible characters', () => {
    assert.equal(readableText('Ｙour\u00a0  PC\u200b\nIsn’t'), "your pc\nisn't");
  });

  it('a readable text keeps the words of other scripts, also beside Latin ones', () => {
    const texts = [
      'ваш пк заблокирован, не выключайте пк.',
      'microsoft windows: ваш компьютер заражён',
      'а вот и он: usb, wi-fi',
      'το κράτος και η google',
      'お使いのpcデバイス',
      'geïnfecteerd, gefälscht, zainfekowań',
    ];
    for (const text of texts) assert.equal(readableText(text), text.normalize('NFKC'));
    for (const text of ['dolandırıcı', 'DOLANDIRICI', 'DOLANDİRİCİ']) assert.equal(readableText(text), 'dolandirici');
  });

  it('links are read from a serialised document', () => {
    const html =
      '<a data-x="1" href="/a?x=1&amp;y=2" download="">Get <b>it</b></a><button type="button">Go</button><article>';
    assert.deepEqual(linksOf(html, PAGE), [
      { text: 'get it', url: 'https://win.example/a?x=1&y=2', isDownload: true },
      { text: 'go', url: '', isDownload: false },
    ]);
    const [own] = linksOf('<script>"<a href=/x>a</a>"</script><a href="/y">b</a>', PAGE);
    assert.deepEqual([own?.text, own?.url], ['b', 'https://win.example/y']);
    assert.deepEqual(linksOf('<a '.repeat(200_000), PAGE), []);
    assert.deepEqual(linksOf('<a href="http://[">x', PAGE), [{ text: 'x', url: '', isDownload: false }]);
  });
});
