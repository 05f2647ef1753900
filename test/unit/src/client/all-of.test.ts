import t from 'tap';
import { allOf } from '../../../../src/client/all-of.ts';

t.test('a list is read to its end, and what moves meanwhile is there once', async (t) => {
  const asked: number[] = [];
  const all = await allOf(async ({ page, per_page: perPage }) => {
    asked.push(page);
    // An entry is added between two pages, so the last one of the first page is the first one of the second page.
    const first = (page - 1) * perPage - (page - 1);
    const data = Array.from({ length: Math.min(perPage, 600 - first) }, (_, at) => ({ id: `${first + at}` }));
    return { data, pagination: { total_items: 600 } };
  });
  t.strictSame(asked, [1, 2]);
  t.strictSame(
    all.map(({ id }) => id),
    Array.from({ length: 600 }, (_, at) => `${at}`),
  );
  t.strictSame(await allOf(async () => ({ data: [], pagination: { total_items: 0 } })), []);
});
