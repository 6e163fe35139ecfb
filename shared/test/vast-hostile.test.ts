import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VAST_LENGTH_MAX } from '../src/limits.ts';
import { parseClock, parseOffset } from '../src/vast/clock.ts';
import { parseVast } from '../src/vast/read-vast.ts';
import { parseXml, writeXml, type XmlElement } from '../src/vast/xml.ts';

const vast = (inside: string): string => `<VAST version="4.2"><Ad id="1"><InLine>${inside}</InLine></Ad></VAST>`;

describe('an XML document from outside', () => {
  it('has no entities but the predefined ones', () => {
    const bomb =
      '<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]><VAST version="4.2"><Ad/></VAST>';
    assert.equal(parseXml(bomb), null);
    assert.equal(
      parseXml('<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE VAST SYSTEM "file:///etc/passwd"><VAST/>'),
      null,
    );
    assert.equal(parseXml('<VAST>&lt;&#65;&#x42;&amp;&quot;&apos;</VAST>')?.text, '<AB&"\'');
  });

  it('may show HTML with a document type in a CDATA section', () => {
    const read = parseVast(
      vast(
        '<Creatives><Creative><CompanionAds><Companion><HTMLResource><![CDATA[<!DOCTYPE html><b>x</b>]]></HTMLResource></Companion></CompanionAds></Creative></Creatives>',
      ),
    );
    assert.equal(read?.ads[0]?.companionAds[0]?.companions[0]?.resources[0]?.value, '<!DOCTYPE html><b>x</b>');
  });

  it('is refused where it is not well-formed, too deep or too long', () => {
    for (const text of ['', 'text', '<a><b></a>', '<a', '<a>&nothing</b>', '{"vast": true}', '<a/><b/>'])
      assert.equal(parseXml(text), null, text);
    assert.equal(parseXml(`${'<a>'.repeat(200)}${'</a>'.repeat(200)}`), null);
    assert.equal(parseXml(`<a>${' '.repeat(VAST_LENGTH_MAX)}</a>`), null);
    assert.equal(parseXml(`<a>${'<b/>'.repeat(30_000)}</a>`), null);
  });

  it('has names and ids of at most 4,096 characters, and at most 100 categories and ids', () => {
    const long = 'x'.repeat(10_000);
    const ids = '<UniversalAdId idRegistry="r">id</UniversalAdId>'.repeat(100);
    const read = parseVast(
      vast(
        `<AdTitle>${long}</AdTitle><AdServingId>${long}</AdServingId>${'<Category>c</Category>'.repeat(101)}<Creatives><Creative><UniversalAdId idRegistry="r">${long}</UniversalAdId>${ids}</Creative></Creatives>`,
      ),
    );
    const [ad] = read?.ads ?? [];
    assert.ok(ad);
    assert.deepEqual([ad.adTitle.length, ad.adServingId.length], [4_096, 4_096]);
    assert.deepEqual([ad.categories.length, ad.universalAdIds.length], [100, 100]);
    assert.equal(ad.universalAdIds[0]?.length, 'r '.length + 4_096);
  });

  it('is read whole: as many trackers as there are, and which companions an ad requires', () => {
    const impressions = Array.from({ length: 250 }, (_, at) => `<Impression>https://t.example/${at}</Impression>`);
    const companions = ['all', 'ANY', 'some', ''].map(
      (required) => `<Creative><CompanionAds required="${required}"><Companion/></CompanionAds></Creative>`,
    );
    const [ad] = parseVast(vast(`${impressions.join('')}<Creatives>${companions.join('')}</Creatives>`))?.ads ?? [];
    assert.equal(ad?.trackers.length, 250);
    assert.deepEqual(
      ad?.companionAds.map(({ required, companions: all }) => [required, all.length]),
      [
        ['all', 1],
        ['any', 1],
        [null, 1],
        [null, 1],
      ],
    );
  });

  it('cannot reach the prototypes of what is made of it', () => {
    const root = parseXml('<a __proto__="1"><__proto__>x</__proto__><constructor>y</constructor></a>');
    assert.ok(root === null || root.children.length <= 2);
    assert.equal(({} as Record<string, unknown>).x, undefined);
  });

  it('is written as it was read', () => {
    const text = '<a b="1 &quot;&lt;&amp;&quot;"><c><![CDATA[<d>]]]]><![CDATA[>&]]></c><e/><f>plain</f></a>';
    const root = parseXml(text) as XmlElement;
    assert.equal(root.children[0]?.text, '<d>]]>&');

    assert.deepEqual(parseXml(writeXml(root))?.children, root.children);
  });
});

describe('times in a document', () => {
  it('are clocks or shares', () => {
    assert.equal(parseClock('00:01:30.123'), 90_123);
    assert.equal(parseClock(' 00:00:05 '), 5_000);
    for (const text of ['5', '00:60:00', '1:2:3', '', '-00:00:01', '00:00:05,5'])
      assert.equal(parseClock(text), null, text);
    assert.equal(parseOffset('25%', 8_000), 2_000);
    assert.equal(parseOffset('00:00:03', 8_000), 3_000);
    assert.equal(parseOffset('101%', 8_000), null);
  });
});
