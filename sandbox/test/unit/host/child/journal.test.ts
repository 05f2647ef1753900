/** Threat: a child that dies inside the guest before it said so, or that notes what would mislead the host. */
import { spawnSync } from 'node:child_process';
import { fstatSync, readdirSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import t, { type Test } from 'tap';
import { fc } from '../../../../../test/support/properties.ts';
import { NODE_ALONE } from '../../../../driver/launch.ts';
import { JournalReader, openJournal } from '../../../../host/child/journal.ts';
import { JournalWriter as Notes } from '../../../../process/channel.ts';
import { JOURNAL_BYTES } from '../../../../protocol.ts';

function opened(t: Test): { journal: JournalReader; read: () => string } {
  const journal = new JournalReader(tmpdir());
  t.teardown(() => journal.close());
  const read = () => {
    const parts: Buffer[] = [];
    journal.read((bytes) => parts.push(bytes));
    return Buffer.concat(parts).toString();
  };
  return { journal, read };
}

t.test('a child that cannot be held to its size gets none', async (t) => {
  t.equal(openJournal({ ...NODE_ALONE, core_dumps_off: false }), undefined);
});

t.test('its memory is taken when it is opened, and without any there is no journal', async (t) => {
  const { journal, read } = opened(t);
  t.equal(fstatSync(journal.fd).size, JOURNAL_BYTES);
  t.ok(fstatSync(journal.fd).blocks * 512 >= JOURNAL_BYTES, 'no part of it is still to be had');
  t.equal(read(), '');
  const script = `
    import { fstatSync } from 'node:fs';
    import { JournalReader } from ${JSON.stringify(import.meta.resolve('../../../../host/child/journal.ts'))};
    const isOpen = (fd) => { try { return fstatSync(fd).isFile(); } catch { return false; } };
    const files = () => Array.from({ length: 100 }, (_, fd) => fd).filter(isOpen).length;
    const before = files();
    try { new JournalReader(${JSON.stringify(t.testdir())}); } catch ({ message }) { console.log(message, files() - before); }`;
  const small = ['-c', 'ulimit -f 16; exec "$0" --input-type=module -e "$1"', process.execPath, script];
  t.equal(spawnSync('sh', small, { encoding: 'utf8' }).stdout, 'there is no room for a journal 0\n');
});

t.test('where there is no descriptor left, it leaves no folder', async (t) => {
  const place = t.testdir();
  const script = `
    import { closeSync, openSync } from 'node:fs';
    import { JournalReader } from ${JSON.stringify(import.meta.resolve('../../../../host/child/journal.ts'))};
    const taken = [];
    try { for (;;) taken.push(openSync('/')); } catch {}
    let said = 'nothing';
    try { new JournalReader(${JSON.stringify(place)}); } catch ({ code }) { said = code; }
    taken.forEach((fd) => closeSync(fd));
    console.log(said);`;
  const few = ['-c', 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, script];
  const { stdout, stderr } = spawnSync('sh', few, { encoding: 'utf8' });
  t.equal(stdout.trim(), 'EMFILE', stderr);
  t.strictSame(readdirSync(place), []);
});

t.test('what was noted is read once, and the channel brings it no second time', async (t) => {
  const { journal, read } = opened(t);
  t.equal(fstatSync(journal.fd).nlink, 0, 'the file has no name');
  const notes = new Notes(journal.fd);
  t.equal(read(), '');
  const outbox = Buffer.from('firstsecondthird');
  t.ok(notes.note(0, outbox, 5));
  t.equal(read(), 'first');
  t.ok(notes.note(0, outbox, 11));
  t.equal(read(), 'second');
  t.equal(read(), '');
  t.equal(journal.unread(outbox.subarray(0, 3)).toString(), '');
  t.equal(journal.unread(outbox.subarray(3)).toString(), 'third');
  notes.clear();
  t.ok(notes.note(16, Buffer.from('next'), 4));
  t.equal(read(), 'next');
  journal.close();
  journal.close();
  t.equal(read(), '');
  t.throws(() => journal.fd, /closed/);
});

t.test('however notes, looks and bytes of the channel alternate, each byte comes once and in order', async (t) => {
  const { journal } = opened(t);
  const notes = new Notes(journal.fd);
  const steps = fc.array(fc.tuple(fc.constantFrom('note', 'look', 'send', 'arrive'), fc.string({ maxLength: 20 })));
  let sent = 0;
  let outbox = Buffer.alloc(0);
  let onTheWay = Buffer.alloc(0);
  let said = '';
  let heard = '';
  const take = (bytes: Buffer) => {
    heard += bytes.toString('latin1');
  };
  fc.assert(
    fc.property(steps, (all) => {
      for (const [step, text] of all) {
        const bytes = Buffer.from(text, 'latin1');
        said += bytes.toString('latin1');
        outbox = Buffer.concat([outbox, bytes]);
        if (step === 'note') t.ok(notes.note(sent, outbox, outbox.length));
        if (step === 'look') journal.read(take);
        if (step === 'arrive') {
          take(journal.unread(onTheWay));
          onTheWay = Buffer.alloc(0);
        }
        if (step !== 'send' && outbox.length < 1000) continue;
        sent += outbox.length;
        onTheWay = Buffer.concat([onTheWay, outbox]);
        outbox = Buffer.alloc(0);
        notes.clear();
      }
      take(journal.unread(onTheWay));
      onTheWay = Buffer.alloc(0);
      return said.startsWith(heard) && said.length - heard.length <= outbox.length;
    }),
  );
});

t.test('a note that is half written, of another time or nonsense is no note', async (t) => {
  const { journal, read } = opened(t);
  const notes = new Notes(journal.fd);
  t.ok(notes.note(0, Buffer.from('whole'), 5));
  t.ok(notes.note(0, Buffer.from('wholebroken'), 11));
  writeSync(journal.fd, 'X', 16 + 5 + 16);
  t.equal(read(), 'whole');
  for (const offset of [Number.NaN, -1, 4.5, 6, 1e300]) {
    const header = Buffer.alloc(16);
    header.writeDoubleBE(offset, 0);
    writeSync(journal.fd, header, 0, 16, 0);
    t.equal(read(), '', `${offset}`);
  }
  writeSync(journal.fd, Buffer.alloc(JOURNAL_BYTES, 255), 0, JOURNAL_BYTES, 0);
  t.equal(read(), '');
});

t.test('there is an end to what is noted', async (t) => {
  const { journal, read } = opened(t);
  const notes = new Notes(journal.fd);
  const outbox = Buffer.alloc(JOURNAL_BYTES, 'x');
  t.ok(notes.note(0, outbox, JOURNAL_BYTES / 2));
  t.notOk(notes.note(0, outbox, JOURNAL_BYTES));
  t.equal(read().length, JOURNAL_BYTES / 2);
  t.equal(fstatSync(journal.fd).size <= JOURNAL_BYTES, true);
});
