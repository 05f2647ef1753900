import t from 'tap';
import {
  findBudgetShortage,
  findCaveatBreach,
  hasBudget,
  type RequestedSpend,
  type SpendingCaveats,
} from '../../../../../../src/features/plugins/records/spending.ts';

const forms = {
  spendOf: () => spend,
  recipient: { read: (text: string) => text.toLowerCase(), expected: 'a name' },
  selector: { read: (text: string) => (text === 'bad' ? undefined : text), expected: 'a call' },
  withoutRecipient: 'the creation of a contract',
};
const spend: RequestedSpend = { recipient: 'alice', selector: 'pay', value: 5n, fee: null, beyond: null };
const breach = (caveats: SpendingCaveats, more: Partial<RequestedSpend> = {}) =>
  findCaveatBreach({ ...spend, ...more }, caveats, forms);

t.test('what no caveat names is not limited', (t) => {
  t.equal(breach({}), undefined);
  t.equal(breach({ valuePerHour: 1n, feePerHour: 0n }), undefined, 'budgets are not for one request to break');
  t.end();
});

t.test('names are compared in the form of the chain', (t) => {
  t.equal(breach({ recipients: ['ALICE'], selectors: ['pay'] }), undefined);
  t.strictSame(breach({ recipients: ['bob'] }), { rule: 'recipients', asked: 'alice', limit: 'bob' });
  t.strictSame(breach({ selectors: ['bad', 'take'] }), { rule: 'selectors', asked: 'pay', limit: 'bad, take' });
  t.match(breach({ recipients: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }), { limit: 'a, b, c, d, e and 2 more' });
  t.end();
});

t.test('a contract cannot be created where a list names who and what', (t) => {
  const creation = { recipient: null, selector: null };
  t.match(breach({ recipients: ['alice'] }, creation), { rule: 'recipients', asked: 'the creation of a contract' });
  t.match(breach({ selectors: ['pay'] }, creation), { rule: 'selectors', asked: 'the creation of a contract' });
  t.equal(breach({ valuePerCall: 5n }, creation), undefined);
  t.end();
});

t.test('what acts on others than the recipient goes past no list', (t) => {
  for (const caveats of [{ recipients: ['alice'] }, { selectors: ['pay'] }]) {
    t.match(breach(caveats, { beyond: 'a list of others' }), { asked: 'a list of others' });
  }
  t.equal(breach({ valuePerCall: 5n }, { beyond: 'a list of others' }), undefined);
  t.end();
});

t.test('where value is limited, a token method needs its contract among the recipients', (t) => {
  const tokens = { tokenMethod: 'transfer(address,uint256)', value: 0n };
  for (const caveats of [{ valuePerCall: 5n }, { valuePerHour: 5n }, { valuePerHour: 5n, selectors: ['pay'] }]) {
    t.match(breach(caveats, tokens), {
      rule: 'recipients',
      asked: 'transfer(address,uint256) of alice',
      limit: /^token methods only of named contracts/,
    });
    t.equal(breach({ ...caveats, recipients: ['alice'] }, tokens), undefined);
    t.match(breach({ ...caveats, recipients: ['bob'] }, tokens), { rule: 'recipients', limit: 'bob' });
  }
  t.equal(breach({ feePerHour: 5n }, tokens), undefined, 'fees are counted whatever is called');
  t.equal(breach({ selectors: ['pay'] }, tokens), undefined);
  t.end();
});

t.test('the value of one call may be the limit, and no more', (t) => {
  t.equal(breach({ valuePerCall: 5n }), undefined);
  t.strictSame(breach({ valuePerCall: 4n }), { rule: 'value_per_call', asked: '5', limit: '4' });
  t.strictSame(breach({ valuePerCall: 2n ** 200n }, { value: 2n ** 200n + 1n }), {
    rule: 'value_per_call',
    asked: (2n ** 200n + 1n).toString(),
    limit: (2n ** 200n).toString(),
  });
  t.end();
});

t.test('only hourly limits need a budget', (t) => {
  t.equal(hasBudget({ recipients: ['alice'], valuePerCall: 1n }), false);
  t.equal(hasBudget({ valuePerHour: 0n }), true);
  t.equal(hasBudget({ feePerHour: 1n }), true);
  t.end();
});

t.test('a budget lacks what goes beyond its limit, and says what is left', (t) => {
  t.equal(findBudgetShortage('value_per_hour', 10n, 7n, 3n), undefined);
  t.strictSame(findBudgetShortage('value_per_hour', 10n, 7n, 4n), {
    rule: 'value_per_hour',
    asked: 4n,
    limit: 10n,
    remaining: 3n,
  });
  t.match(findBudgetShortage('value_per_hour', 10n, 12n, 1n), { remaining: 0n }, 'a limit that was lowered');
  t.equal(findBudgetShortage('value_per_hour', 10n, 12n, 0n), undefined, 'nothing is never too much');
  t.equal(findBudgetShortage('value_per_hour', null, 12n, 5n), undefined);
  t.equal(
    findBudgetShortage('fee_per_hour', 10n, 9n, null),
    undefined,
    'a fee that nobody knows yet needs something left',
  );
  t.match(findBudgetShortage('fee_per_hour', 10n, 10n, null), { asked: 1n, remaining: 0n });
  t.end();
});
