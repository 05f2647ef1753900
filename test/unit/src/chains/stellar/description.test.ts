import t from 'tap';
import { apiDescription } from '../../../../../src/chains/stellar/description.ts';

t.test('the example of a request is one', async (t) => {
  t.equal(apiDescription.name, 'Stellar');
  t.ok(apiDescription.request?.schema.safeParse(apiDescription.request.example).success);
});
