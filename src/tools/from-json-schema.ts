import type { JsonObject, JsonValue } from '../json.ts';

/**
 * The type of the values that a JSON Schema describes, as far as the compiler can read it: `type`, `enum`, `const`,
 * `properties`, `required`, `items`, `anyOf` and `oneOf`. A schema that is only known at run time describes an
 * object.
 */
export type FromJsonSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] } | { readonly oneOf: readonly (infer A)[] }
      ? A extends unknown
        ? FromJsonSchema<A>
        : never
      : S extends { readonly type: 'object'; readonly properties: infer P }
        ? FromProperties<P, RequiredIn<S>>
        : S extends { readonly type: 'object' }
          ? JsonObject
          : S extends { readonly type: 'array'; readonly items: infer I }
            ? readonly FromJsonSchema<I>[]
            : S extends { readonly type: infer T }
              ? Primitive<T extends readonly (infer U)[] ? U : T>
              : string extends keyof S
                ? JsonObject
                : JsonValue;

type FromProperties<P, Required> = {
  readonly [K in keyof P as K extends Required ? K : never]: FromJsonSchema<P[K]>;
} & {
  readonly [K in keyof P as K extends Required ? never : K]?: FromJsonSchema<P[K]>;
} extends infer Properties
  ? { [K in keyof Properties]: Properties[K] }
  : never;

type RequiredIn<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

type Primitive<T> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : JsonValue;
