import t from 'tap';
import { z } from 'zod';
import { jsonObject, timestamp } from '../../../../../src/domain/record.ts';
import { DuplicateRecord, readRecord, UnreadableRecord } from '../../../../../src/store/tables/stored-record.ts';

t.test('an unreadable record is an error that names table, record and field', async (t) => {
  const schema = z.object({ at: timestamp.schema, fields: jsonObject.schema });
  t.strictSame(readRecord(schema, 'things', 'x', { at: 5, fields: '{"a":1}' }), { at: 5, fields: { a: 1 } });
  for (const [row, field] of [
    [{ at: 1.5, fields: '{}' }, 'at'],
    [{ at: '5', fields: '{}' }, 'at'],
    [{ at: 5, fields: '{' }, 'fields'],
    [{ at: 5, fields: '[]' }, 'fields'],
    [{ at: 5, fields: 'null' }, 'fields'],
    [{ at: 5 }, 'fields'],
  ] as const) {
    const error = t.throws(() => readRecord(schema, 'things', 'x', row)) as UnreadableRecord;
    t.ok(error instanceof UnreadableRecord);
    t.match(error, { table: 'things', id: 'x', message: /^Record x of table things cannot be read: / });
    t.match(error.message, field);
  }
});

t.test('a duplicate says what is taken', async (t) => {
  t.match(new DuplicateRecord('things', 'x'), { name: 'DuplicateRecord', message: 'Table things already holds x' });
});
