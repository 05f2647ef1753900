import t from 'tap';
import { description } from '../../../../../src/chains/stellar/description.ts';

t.test('the example of a request is one', async (t) => {
  t.equal(description.name, 'Stellar');
  t.ok(description.request?.schema.safeParse(description.request.example).success);
});
