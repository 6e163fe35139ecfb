import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from '../../../src/analysis/detectors/detect.ts';
import { NO_EVIDENCE } from '../../../src/analysis/evidence/evidence.ts';
import { documentOf, slugsOf } from '../../support/detected.ts';

describe('§2.5.13 instructions and captchas that share words with attacks by the clipboard', () => {
  it('instructions for a terminal beside a captcha are no paste_to_run', () => {
    const install = 'Open your terminal and paste this command.';
    for (const near of ['This site is protected by reCAPTCHA.', 'Solves every captcha: get a key.'])
      assert.deepEqual(slugsOf({ text: `${install}\n${near}` }), [], near);
    const run = 'Press Windows + R.\nPress Ctrl + V.\n';
    for (const form of ['Protected by reCAPTCHA', 'Was this helpful? CAPTCHA verification is required.'])
      assert.deepEqual(slugsOf({ text: run + form }), [], form);
    assert.deepEqual(slugsOf({ text: `${run}Complete the captcha` }), ['paste_to_run']);
    assert.deepEqual(slugsOf({ text: `${install}\nThis proves that you are human.` }), ['paste_to_run']);
  });

  it('words that only contain those of an instruction are no paste_to_run beside a captcha', () => {
    for (const text of [
      'Classes de Terminale\nNotre école vous répond.\nJe ne suis pas un robot',
      'Order toothpaste at the terminal.\nI am not a robot',
      'Payment terminal: paste its number.\nVerify that you are human',
      'El paciente terminal, un ser humano como todos, ya no puede pegar sellos.',
    ])
      assert.deepEqual(slugsOf({ text }), [], text);
  });

  it('a single sentence that warns of the attack is no paste_to_run, and an order not to leave is none of its warnings', () => {
    for (const text of [
      'Never press Windows + R and paste (Ctrl + V) what a page tells you, not even to prove that you are not a robot. It is a scam.',
      'Please do not open the Run dialog and paste anything if a captcha asks you to verify that you are human.',
      "Don't press Win + R or open PowerShell to paste a command that proves that you are human.",
      'Drücken Sie niemals Windows + R und fügen Sie nichts mit Strg + V ein, damit geprüft wird, ob Sie ein Mensch sind.',
      "N'ouvrez rien : ne collez rien avec Windows + R et Ctrl + V pour prouver que vous êtes humain.",
      'No pulse Windows + R ni pegue nada con Ctrl + V para demostrar que es un ser humano.',
    ])
      assert.deepEqual(slugsOf({ text }), [], text);
    for (const text of [
      'Verify that you are human\nDo not close this page\nPress Windows + R\nPress Ctrl + V\nPress Enter',
      'Verify that you are human: do not use the mouse, press Windows + R, then Ctrl + V.',
      'Never skip this step. Press Windows + R and Ctrl + V to prove that you are human.',
      'Do not press any other key\nPress Windows + R\nPress Ctrl + V\nYou are human',
    ])
      assert.deepEqual(slugsOf({ text }), ['paste_to_run'], text);
  });

  it('what the frame of a captcha service says is not said by the page', () => {
    const page = documentOf({ text: 'Open your terminal and paste this command.' });
    const slugs = (url: string) => {
      const frame = { ...documentOf({ text: "I'm not a robot", url }), frame: 'f' };
      return detect({ ...NO_EVIDENCE, documents: [page, frame] }).findings.map(({ tag_slug }) => tag_slug);
    };
    assert.deepEqual(slugs('https://www.google.com/recaptcha/api2/anchor?k=1'), []);
    assert.deepEqual(slugs('https://newassets.hcaptcha.com/captcha/v1/1/static/hcaptcha.html'), []);
    assert.deepEqual(slugs('https://smartcaptcha.yandexcloud.net/checkbox.html'), []);
    assert.deepEqual(slugs('https://geo.captcha-delivery.com/captcha/?cid=1'), []);
    assert.deepEqual(slugs('https://www.google.com.example/recaptcha/api2/anchor'), ['paste_to_run']);
  });
});
