import t from 'tap';
import { storeFor } from '../../../../support/store.ts';
import { attemptsContract } from '../../../../support/store-contract/attempts.ts';

attemptsContract(t, storeFor);
