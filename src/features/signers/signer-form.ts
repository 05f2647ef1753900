import { z } from 'zod';
import { invalidRequest } from '../../domain/errors.ts';
import { idSchema } from '../../domain/id.ts';
import { didYouMean } from '../../domain/json/issue-text.ts';
import { isObject, type Json, type JsonObject } from '../../domain/json/json.ts';
import { rawKeySignerKind } from '../../signers/raw-key.ts';
import type { SignerKinds } from '../../signers/registry.ts';
import { type SignerKind, secretSchema } from '../../signers/signer.ts';
import { parseBody } from '../request-body.ts';

/** The parts of a signer kind that clients use. */
type ClientKind = Pick<SignerKind, 'type' | 'configSchema' | 'ofFilesOnly' | 'shownAllTheSame'>;

/** Clients cannot create this kind: it reads a keystore file on this machine. Clients send the key itself. */
const WITHOUT_CLIENTS = 'local';

/** The kinds that clients can make signers of. */
export function clientSignerKinds(kinds: SignerKinds): SignerKinds {
  const known = [...kinds].filter(([type]) => type !== WITHOUT_CLIENTS);
  return new Map([...known, [rawKeySignerKind.type, rawKeySignerKind]]);
}

/** The body that creates a signer. It is like an entry of a file, with plain secrets. */
export function signerCreateSchema({ type, configSchema, ofFilesOnly }: ClientKind) {
  return z.strictObject({
    id: idSchema.nullish(),
    type: z.literal(type),
    config: withPlainSecrets(configSchema, ofFilesOnly),
  });
}

/** The signer that a client asks for. */
export interface SignerForm {
  id: string | undefined;
  kind: SignerKind;
  /** In the form of a file's entry, with plain secrets. */
  config: JsonObject;
}

/**
 * Parses a body that creates a signer. Calls no other service.
 * @param kinds the result of {@link clientSignerKinds}
 * @throws AppError `INVALID_REQUEST`, which shows no secret
 */
export function readSignerForm(body: unknown, kinds: SignerKinds): SignerForm {
  const { type } = parseBody(z.looseObject({ type: z.string() }), body);
  const kind = kinds.get(type);
  if (kind === undefined) throw invalidRequest(`type: ${whyNoKind(type, kinds)}`);
  const { id, config } = parseBody(signerCreateSchema(kind), body);
  const whole = wrapSecrets(kind.configSchema, config as Json) as JsonObject;
  parseBody(kind.configSchema, whole, ['config']);
  return { id: id ?? undefined, kind, config: whole };
}

function whyNoKind(type: string, kinds: SignerKinds): string {
  if (type === WITHOUT_CLIENTS) {
    return 'a signer of type local is a keystore of the operator; declare it in the configuration, or send `plain`';
  }
  return `there is no signer type "${type}"; ${didYouMean(type, kinds.keys()) ?? `known: ${[...kinds.keys()].join(', ')}`}`;
}

/** The type in answers. The reference has one name for all keys in the process, whatever their source. */
export function signerTypeView(type: string): string {
  return type === rawKeySignerKind.type ? WITHOUT_CLIENTS : type;
}

/** The configuration in answers, without secrets. A field that may be null and is absent is shown as null. */
export function signerConfigView(
  { type, configSchema, shownAllTheSame = [] }: ClientKind,
  config: JsonObject,
): JsonObject {
  if (type === WITHOUT_CLIENTS) return {};
  return shownPart(configSchema, config, shownAllTheSame) as JsonObject;
}

function shownPart(schema: z.core.$ZodType, value: Json, shownAllTheSame: readonly string[]): Json {
  const form = bare(schema);
  if (!(form instanceof z.ZodObject) || !isObject(value)) return value;
  const fields = Object.entries(form.shape as Record<string, z.core.$ZodType>).flatMap(
    ([name, field]): [string, Json][] => {
      const given: Json | undefined = value[name];
      if (isSecret(bare(field))) return shownAllTheSame.includes(name) ? [[name, shownSecret(given)]] : [];
      if (given === undefined) return isNullable(field) ? [[name, null]] : [];
      return [[name, shownPart(field, given, [])]];
    },
  );
  return Object.fromEntries(fields);
}

/** A secret from the environment is shown as null. */
function shownSecret(secret: Json | undefined): Json {
  return isObject(secret) && secret['type'] === 'plain' ? (secret['value'] as Json) : null;
}

/** Returns the same schema with a text in place of each secret, and without the omitted fields. */
function withPlainSecrets(schema: z.core.$ZodType, omitted: readonly string[] = []): z.ZodType {
  if (isSecret(schema)) return z.string().min(1, 'must not be empty');
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.core.$ZodType>)
      .filter(([name]) => !omitted.includes(name))
      .map(([name, field]) => [name, withPlainSecrets(field)]);
    return z.strictObject(Object.fromEntries(fields) as Record<string, z.ZodType>);
  }
  if (schema instanceof z.ZodOptional) return withPlainSecrets(schema.unwrap()).nullish();
  if (schema instanceof z.ZodNullable) return withPlainSecrets(schema.unwrap()).nullish();
  return schema as z.ZodType;
}

/** Converts a client's configuration to the form of a file's entry. */
function wrapSecrets(schema: z.core.$ZodType, value: Json): Json {
  const form = bare(schema);
  if (isSecret(form)) return { type: 'plain', value };
  if (!(form instanceof z.ZodObject) || !isObject(value)) return value;
  const given = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(
    given.map(([name, field]) => {
      const inner = (form.shape as Record<string, z.core.$ZodType>)[name];
      return [name, inner === undefined ? field : wrapSecrets(inner, field)];
    }),
  );
}

/** All secrets in a kind's schema share this schema, each with its own description. */
function isSecret(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodObject && schema.shape['type'] === secretSchema.shape.type;
}

function isNullable(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, null).success;
}

function bare(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return bare(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? bare(schema.in) : schema;
}
