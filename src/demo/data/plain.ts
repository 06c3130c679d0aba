/** Removes case and accents: `Öresund Payments` becomes `oresund payments`. */
export const plain = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toLowerCase();
