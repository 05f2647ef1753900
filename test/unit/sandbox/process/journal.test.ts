import { closeSync, fstatSync, openSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { Journal } from '../../../../sandbox/process/journal.ts';
import { JOURNAL_BYTES } from '../../../../sandbox/protocol.ts';

t.test('what does not fit is not noted, and touches no file', async (t) => {
  const journal = new Journal(-1);
  t.equal(journal.note(0, Buffer.alloc(JOURNAL_BYTES), JOURNAL_BYTES), false);
});

t.test('a file that fails once is given up, and nobody hears of it', async (t) => {
  const file = path.join(t.testdir({ journal: '' }), 'journal');
  const readOnly = openSync(file, 'r');
  const journal = new Journal(readOnly);
  t.equal(journal.note(0, Buffer.from('first'), 5), false);
  closeSync(readOnly);
  const writable = openSync(file, 'r+');
  t.teardown(() => closeSync(writable));
  t.equal(writable, readOnly, 'it would work again');
  t.equal(journal.note(0, Buffer.from('first'), 5), false);
  t.equal(fstatSync(writable).size, 0);
});
