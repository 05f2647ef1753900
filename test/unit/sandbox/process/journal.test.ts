import t from 'tap';
import { Journal } from '../../../../sandbox/process/journal.ts';
import { JOURNAL_BYTES } from '../../../../sandbox/protocol.ts';

t.test('what does not fit is not noted, and touches no file', async (t) => {
  const journal = new Journal(-1);
  t.equal(journal.note(0, Buffer.alloc(JOURNAL_BYTES), JOURNAL_BYTES), false);
  t.throws(() => journal.note(0, Buffer.from('x'), 1), { code: 'ERR_OUT_OF_RANGE' });
});
