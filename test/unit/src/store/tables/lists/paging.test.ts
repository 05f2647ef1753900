import t from 'tap';
import { pageBounds, totalOf } from '../../../../../../src/store/tables/lists/paging.ts';

t.strictSame(pageBounds({ page: 1, perPage: 10 }), { limit: 10, offset: 0 });
t.strictSame(pageBounds({ page: 0, perPage: 10 }), { limit: 10, offset: 0 }, 'page 0 means the first');
t.strictSame(pageBounds({ page: 3, perPage: 10 }), { limit: 10, offset: 20 });
t.strictSame(pageBounds({ page: 3, perPage: 0 }), { limit: 0, offset: 0 });
t.strictSame(pageBounds({ page: Number.MAX_SAFE_INTEGER, perPage: 500 }), {
  limit: 500,
  offset: Number.MAX_SAFE_INTEGER,
});

t.equal(totalOf([{ total: 7 }]), 7);
t.throws(() => totalOf([]), /answered nothing/);
