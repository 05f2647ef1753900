import { z } from 'zod';
import type { AppError } from '../../domain/errors.ts';
import type { Json } from '../../domain/json.ts';
import type { Need } from '../grants.ts';
import { defineCapability } from './capability.ts';

/** Which keys are valid is the store's to say, with the reference's text. */
const ofKey = z.strictObject({ key: z.string() });
const json = z.custom<Json>((value) => value !== undefined, 'value must not be undefined');

const grant = (): Need => ({ kv: true });
const never = () => false;
const always = () => true;

/** `invalid key` and its like reach the plugin word for word; what broke inside does not. */
const failure = (error: AppError): string =>
  error.status === 400 ? error.message : `Key-value store error: ${error.publicMessage}`;

export const kvGet = defineCapability({
  method: 'kv.get',
  needs: ['kv'],
  params: ofKey,
  grant,
  effect: never,
  handle: ({ kv }, { key }, { pluginId }) => kv.get(pluginId, key),
  failure,
});

export const kvSet = defineCapability({
  method: 'kv.set',
  needs: ['kv'],
  params: z.strictObject({ key: z.string(), value: json, ttlSec: z.number().exactOptional() }),
  grant,
  effect: always,
  handle: ({ kv }, { key, value, ttlSec }, { pluginId, effect }) => kv.set(pluginId, key, value, ttlSec, effect),
  failure,
});

export const kvDel = defineCapability({
  method: 'kv.del',
  needs: ['kv'],
  params: ofKey,
  grant,
  effect: always,
  handle: ({ kv }, { key }, { pluginId, effect }) => kv.del(pluginId, key, effect),
  failure,
});

export const kvExists = defineCapability({
  method: 'kv.exists',
  needs: ['kv'],
  params: ofKey,
  grant,
  effect: never,
  handle: ({ kv }, { key }, { pluginId }) => kv.exists(pluginId, key),
  failure,
});
