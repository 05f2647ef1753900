import t from 'tap';
import { pageQuerySchema, pageRequest, partQuerySchema, partRequest } from '../../../../src/http/paging.ts';

const asked = (query: unknown) => pageRequest(pageQuerySchema.parse(query));

t.test('the values in effect', (t) => {
  t.strictSame(asked({}), { page: 1, perPage: 10 });
  t.strictSame(asked({ page: '0', per_page: '0' }), { page: 1, perPage: 0 });
  t.strictSame(asked({ page: '3', per_page: '500' }), { page: 3, perPage: 500 });
  t.strictSame(asked({ per_page: '501' }), { page: 1, perPage: 500 });
  t.strictSame(asked({ per_page: '99999999999999999999' }), { page: 1, perPage: 500 });
  t.strictSame(asked({ page: '4294967295', other: 'ignored' }), { page: 4294967295, perPage: 10 });
  t.end();
});

t.test('what is not a whole number of at least 0 is refused', (t) => {
  for (const page of ['-1', '1.5', 'abc', '', ' 1', '1e3', '0x1', '4294967296', '9'.repeat(40), ['1', '2']]) {
    t.notOk(pageQuerySchema.safeParse({ page }).success, `page=${page}`);
  }
  for (const per_page of ['-1', '1.5', 'abc', '']) {
    t.notOk(pageQuerySchema.safeParse({ per_page }).success, `per_page=${per_page}`);
  }
  t.end();
});

t.test('a part begins at the latest, or before the place that its cursor tells', (t) => {
  t.strictSame(partRequest(partQuerySchema.parse({})), { before: null, limit: 10 });
  t.strictSame(partRequest(partQuerySchema.parse({ cursor: '7', per_page: '501' })), { before: 7, limit: 500 });
  for (const cursor of ['', '-1', '1.5', 'abc', '9'.repeat(16), ['1', '2']]) {
    t.notOk(partQuerySchema.safeParse({ cursor }).success, `cursor=${cursor}`);
  }
  t.end();
});
