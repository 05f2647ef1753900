/** Threat: a guest that never comes back before its child could say that it went in. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import t from 'tap';
import { probeLauncher } from '../../../driver/confinement.ts';
import { encodeFrame, FrameDecoder } from '../../../frames.ts';
import { childPayloadLimits } from '../../../host/child/child-messages.ts';
import { openJournal } from '../../../host/child/journal.ts';
import { nativeAddon } from '../../../host/compiler/child-program.ts';
import { JournalWriter } from '../../../process/channel.ts';
import { DOWN, JOURNAL_BYTES, UP } from '../../../protocol.ts';

type Frame = [kind: number, call: number, text: string];
const CHANNEL = JSON.stringify(import.meta.resolve('../../../process/channel.ts'));

/** Runs a script that has `channel` and its clock `now`, and collects the frames that come up until it ends. */
async function framesFrom(script: string, down: Frame[] = [], journalFd?: number): Promise<Frame[]> {
  const code = `import(${CHANNEL}).then(({ Channel }) => { let now = 0; const channel = new Channel(3, () => now); ${script} });`;
  const child = spawn(process.execPath, ['-e', code], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe', journalFd ?? 'ignore'],
  });
  const frames: Frame[] = [];
  const caps = childPayloadLimits({ result_bytes: 10_000_000 });
  const decoder = new FrameDecoder(caps, (...frame) => frames.push(frame));
  const pipe = child.stdio[3] as Socket;
  pipe.on('data', (chunk: Buffer) => decoder.push(chunk));
  for (const frame of down) pipe.write(encodeFrame(...frame));
  await once(child, 'close');
  return frames;
}

t.test('what was entered is known even if nothing runs afterwards', async (t) => {
  const script = "channel.send(6, 1, 'before'); channel.enter(1); process.kill(process.pid, 'SIGKILL');";
  t.same(await framesFrom(script), [
    [UP.LOG, 1, 'before'],
    [UP.ENTER, 1, ''],
  ]);
});

t.test('what was noted and not sent is known even if nothing runs afterwards', async (t) => {
  const journal = openJournal((await probeLauncher(process.platform, nativeAddon())).confinement);
  if (journal === undefined) return t.pass('there is no place for journals');
  t.teardown(() => journal.close());
  const endsAfter = (ms: number) => `
    channel.keepJournal(4);
    channel.listen((kind, call, text) => {
      channel.send(6, 1, 'before'); now += ${ms}; channel.enter(1, true); process.kill(process.pid, 'SIGKILL');
    }, () => {});`;
  const frames = [
    [UP.LOG, 1, 'before'],
    [UP.ENTER, 1, ''],
  ];
  t.same(await framesFrom(endsAfter(0.9), [[DOWN.INVOKE, 1, '']], journal.fd), []);
  const noted: Frame[] = [];
  const decoder = new FrameDecoder(childPayloadLimits({ result_bytes: 0 }), (...frame) => noted.push(frame));
  journal.read((bytes) => decoder.push(bytes));
  t.same(noted, frames);
  const sent = await framesFrom(endsAfter(1), [[DOWN.INVOKE, 1, '']], journal.fd);
  t.same(sent, frames, 'what has waited for a while is sent');
});

t.test('frames beyond the size of the outbox and of the pipe arrive whole and in order', async (t) => {
  const script = `
    for (const length of [0, 1, 20_000, 70_000, 3_000_000, 5]) channel.send(7, length, 'é'.repeat(length));
    channel.flush(); channel.flush();`;
  const frames = await framesFrom(script);
  t.same(
    frames.map(([, call, text]) => [call, text.length]),
    [0, 1, 20_000, 70_000, 3_000_000, 5].map((length) => [length, length]),
  );
});

t.test('answers leave after each batch, and the end of the channel is told', async (t) => {
  const script = `
    channel.listen((kind, call, text) => { channel.send(7, call, kind + text); if (text === 'last') process.exit(); }, () => {});`;
  const frames = await framesFrom(`${script.replace('process.exit()', 'setImmediate(() => process.exit())')}`, [
    [1, 5, 'first'],
    [2, 6, 'last'],
  ]);
  t.same(frames, [
    [UP.DONE, 5, '1first'],
    [UP.DONE, 6, '2last'],
  ]);
});

t.test('what does not fit is not noted, and touches no file', async (t) => {
  const journal = new JournalWriter(-1);
  t.equal(journal.note(0, Buffer.alloc(JOURNAL_BYTES), JOURNAL_BYTES), false);
});

t.test('a file that fails once is given up, and nobody hears of it', async (t) => {
  const file = path.join(t.testdir({ journal: '' }), 'journal');
  const readOnly = openSync(file, 'r');
  const journal = new JournalWriter(readOnly);
  t.equal(journal.note(0, Buffer.from('first'), 5), false);
  closeSync(readOnly);
  const writable = openSync(file, 'r+');
  t.teardown(() => closeSync(writable));
  t.equal(writable, readOnly, 'it would work again');
  t.equal(journal.note(0, Buffer.from('first'), 5), false);
  t.equal(fstatSync(writable).size, 0);
});
