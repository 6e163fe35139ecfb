import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { observed, PAGE, slugsOf } from '../../support/detected.ts';

const form = (facts: Partial<ObservationOf<'form'>['facts']>) =>
  observed('form', { fields: ['password'], action_url: `${PAGE}/next`, text: 'Sign in', ...facts });

const COPIES = '<button onclick="0">Copy</button><script>navigator.clipboard.writeText("x")</script>';
const PROGRAM = '<a href="/get/Setup.exe">Update</a>';

describe('§2.5.13 deceptive pages that warn of deception in small print', () => {
  const SMALL_PRINTS = [
    'Beware of scams, a hoax can be anywhere.',
    'Beware of scammers and fake sites. Our hotline helps victims of a scam.',
    'Vorsicht vor Betrug: Betrüger geben sich als Mitarbeiter aus.',
    'Attention aux arnaques : une arnaque peut se cacher partout.',
    'Cuidado con las estafas: una estafa puede estar en todas partes.',
  ];
  /** The tags of the page with each small print below it, above it and both. */
  const tagsOf = (text: string, html = '', ...forms: ReturnType<typeof form>[]) => [
    ...new Set(
      SMALL_PRINTS.flatMap((small) =>
        [`${text}\n${small}`, `${small}\n${text}`, `${small}\n${text}\n${small}`].map((one) =>
          slugsOf({ text: one, html }, forms).join(),
        ),
      ),
    ),
  ];

  it('scareware is found', () => {
    for (const text of [
      'Your computer has been locked.\nDo not close this window.\nCall Windows Support: +1 888 555 0142',
      'Ihr PC wurde gehackt.\nRufen Sie sofort den Support an: +49 30 5550 1234',
      'Votre ordinateur est bloqué.\nNe fermez pas cette page.\nAppelez le support Microsoft: 01 86 26 00 00',
      'Su ordenador está infectado.\nNo apague el equipo.\nLlame al soporte técnico: 900 555 0142',
      'I recorded you through your webcam.\nSend $900 in Bitcoin within 48 hours, or your contacts see the video.',
    ])
      assert.deepEqual(tagsOf(text), ['scareware'], text);
  });

  it('fake_update, paste_to_run and push_lure are found', () => {
    const old = 'Your version of Chrome is out of date.\nUpdate it now to see this page.';
    assert.deepEqual(tagsOf(old, PROGRAM), ['fake_update']);
    const run = 'Verify that you are human\nPress Windows + R\nPress Ctrl + V\nPress Enter';
    assert.deepEqual(tagsOf(run), ['paste_to_run']);
    const steps = '<p hidden>Press Windows + R</p><p hidden>Press Ctrl + V</p><p hidden>I am not a robot</p>';
    const box = 'I am not a robot\nThis takes a moment. Wait until the check of your connection has ended.';
    assert.deepEqual(tagsOf(box, steps + COPIES), ['paste_to_run']);
    const allow = 'Click Allow to confirm that you are not a robot.\nThen the video begins, in the best quality.';
    const asks = '<script>Notification.requestPermission()</script>';
    assert.deepEqual(tagsOf(allow, asks), ['push_lure']);
  });

  it('phishing_form is found', () => {
    const card = form({ fields: ['card_number'], text: 'Card' });
    const parcel = 'Your parcel is on hold.\nPay the customs fee of 1.99 € for its delivery by our courier.';
    assert.deepEqual(tagsOf(parcel, '', card), ['phishing_form']);
    const phrase = form({ fields: ['seed_phrase'], text: '' });
    assert.deepEqual(tagsOf('Validate your wallet\nEnter all twelve words to go on.', '', phrase), ['phishing_form']);
    const said = 'Confirm your PayPal password';
    assert.deepEqual(tagsOf(`${said}\nPassword\nContinue to your account`, '', form({ text: said })), [
      'phishing_form',
    ]);
  });

  it('fake_system_dialog is found', () => {
    const text = 'Windows Security\nYour PC is infected.\nRemove the virus now to protect your files.';
    for (const small of SMALL_PRINTS)
      assert.deepEqual(
        slugsOf({}, [observed('dialog_box', { text: `${text}\n${small}`, buttons: ['OK'] })]),
        ['fake_system_dialog'],
        small,
      );
  });
});

describe('§2.5.13 pages about deception', () => {
  const NUMBER = '+1 888 555 0142';

  it('an article that quotes scareware line by line is no scareware', () => {
    const quoted = `Your computer is infected with 3 viruses!\nCall Windows Support now: ${NUMBER}\nDo not turn off your computer!`;
    const related = Array.from({ length: 40 }, (_, n) => `Another story, number ${n}`).join('\n');
    const text = `Tech support scams\nFour minutes to read\nWhat such a page shows:\n${quoted}\nIt plays a sound.\nClose the tab, and report the scam.`;
    assert.deepEqual(slugsOf({ title: 'Tech support scams', text }), []);
    assert.deepEqual(slugsOf({ title: 'Tech support scams', text: `${text}\n${related}` }), []);
    // Neither the title nor the beginning alone makes an article.
    assert.deepEqual(slugsOf({ title: 'Tech support scams', text: `${quoted}\nBeware of scams` }), ['scareware']);
    assert.deepEqual(slugsOf({ title: 'Support', text: `Scam alerts\n${quoted}\nReport a scam` }), ['scareware']);
  });

  it('a long page of which one part is about deception is judged by the rest of it', () => {
    const related = Array.from({ length: 40 }, (_, n) => `Another story, number ${n}`).join('\n');
    const part = [
      'A banner says "Your computer is infected!"',
      'It belongs to a fake scanner, which is the latest scam.',
      'Many such fake programs want money to clean your computer.',
      'The scammers then ask you to call the support.',
      'What to do: scan now with a program that you trust.',
    ].join('\n');
    assert.deepEqual(slugsOf({ title: 'My week', text: `${part}\n${related}\nDownload now` }), []);
    const threat = `Your PC has been hacked.\nDo not restart it. Call support now: ${NUMBER}`;
    assert.deepEqual(slugsOf({ title: 'My week', text: `${part}\n${related}\n${threat}` }), ['scareware']);
  });

  it('a warning of a bank or the police is harmless in each language', () => {
    for (const text of [
      `Scammers say "Your computer has been hacked" and then want access. This is fraud.\nCall our support immediately: ${NUMBER}\nReport every scam.`,
      'Betrüger behaupten: "Ihr PC wurde gehackt." Das ist eine Masche.\nRufen Sie sofort unsere Hotline an: +49 30 5550 1234\nMehr über Betrug',
      'Des escrocs affirment : « Votre ordinateur est bloqué ». Une arnaque.\nContactez notre support: 01 23 45 67 89\nSignaler une arnaque',
      'Una estafa dice: "Su ordenador está infectado". Es falso.\nLlame a nuestro soporte: 900 555 0142\nDenunciar una estafa',
    ])
      assert.deepEqual(slugsOf({ title: 'Acme Bank', text }), [], text);
  });

  it('a description of an attack by the clipboard is no paste_to_run, also in a page with code to copy', () => {
    const text = [
      'The page asks visitors to verify that they are human. This is a scam that is known as ClickFix.',
      'Victims are asked to press Windows + R',
      'then Ctrl + V, which pastes the command,',
      'and Enter. The fake check then loads a program for the scammers.',
    ].join('\n');
    const html = `<p>${text.replaceAll('\n', '</p><p>')}</p>${COPIES}`;
    assert.deepEqual(slugsOf({ title: 'A new attack', text, html }), []);
    const related = Array.from({ length: 60 }, (_, n) => `<p>Another story, number ${n}</p>`).join('');
    const page = `${html}${related}`;
    assert.deepEqual(
      slugsOf({ title: 'A new attack', text: `${text}${'\nAnother story'.repeat(60)}`, html: page }),
      [],
    );
  });
});
