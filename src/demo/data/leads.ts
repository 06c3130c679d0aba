import { readRows } from './read-rows.ts';

export interface LeadRow {
  readonly id: string;
  readonly company: string;
  readonly domain: string;
  readonly program: string;
  readonly contact: string;
  readonly status: string;
  readonly value: number;
  readonly idleDays: number;
  readonly owner: string | null;
}

export const leadStatuses: readonly string[] = [
  'new',
  'contacted',
  'negotiating',
  'won',
  'lost',
  'inactive',
];

/**
 * id, company, domain, program, contact, status, value, days since the last activity, owner. A few companies appear
 * twice under different spellings, as in real lists.
 */
const table = `
lead_2207 | Helvetia Robotic         | helvetia-robotics.example   | Nordlicht     | Urs Brunner          | inactive    |  18000 | 212 | Mara Lindqvist
lead_2101 | Fjordkraft Systems AS    | fjordkraft.example          | Nordlicht     | Olav Berg            | negotiating |  96000 |   4 | Mara Lindqvist
lead_2102 | Polarlys Analytics AB    | polarlys.example            | Nordlicht     | Saga Nyström         | contacted   |  22000 |  11 | Mara Lindqvist
lead_2103 | Sisu Maritime Oy         | sisu-maritime.example       | Nordlicht     | Eero Laine           | won         | 134000 |  30 | Mara Lindqvist
lead_2104 | Öresund Payments AB      | oresund-pay.example         | Nordlicht     | Freja Holm           | new         |  58000 |   2 | Mara Lindqvist
lead_2105 | Lumi Health Oy           | lumi-health.example         | Nordlicht     | Tuomas Korhonen      | contacted   |  41000 |  19 | Mara Lindqvist
lead_2106 | Skagerrak Foods AS       | skagerrak-foods.example     | Nordlicht     | Sigrid Solberg       | lost        |  75000 |  88 | Mara Lindqvist
lead_2108 | Norrsken Mobility AB     | norrsken-mobility.example   | Nordlicht     | Nils Ek              | new         |  27000 |   6 | -
lead_2110 | Helvetia Robotics AG     | helvetia-robotics.example   | Alpine        | Urs Brunner          | contacted   |  64000 |  14 | Greta Hofer
lead_1874 | Gotthard Logistics AG    | gotthard-logistics.example  | Alpine        | Seraina Caduff       | inactive    |  52000 | 421 | Greta Hofer
lead_1902 | Engadin Optics AG        | engadin-optics.example      | Alpine        | Korbinian Huber      | inactive    |  16000 | 533 | Greta Hofer
lead_2112 | Zugspitze Software GmbH  | zugspitze-software.example  | Alpine        | Vroni Egger          | negotiating |  83000 |   3 | Greta Hofer
lead_2113 | Zugspitze Software       | zugspitze-software.example  | Alpine        | Anselm Frick         | new         |  80000 |  47 | Greta Hofer
lead_2115 | Tauern Energie GmbH      | tauern-energie.example      | Alpine        | Resi Steiner         | won         | 210000 |  25 | Greta Hofer
lead_2116 | Bodensee Medtech AG      | bodensee-medtech.example    | Alpine        | Beat Manser          | contacted   |  47000 |   9 | Greta Hofer
lead_1921 | Inntal Maschinenbau GmbH | inntal-maschinenbau.example | Alpine        | Ilze Ozols           | inactive    |  39000 | 388 | Greta Hofer
lead_2118 | Säntis Data AG           | saentis-data.example        | Alpine        | Kaarel Tamm          | new         |  12000 |   1 | Greta Hofer
lead_2120 | Daugava Freight SIA      | daugava-freight.example     | Baltic        | Rasa Petraitis       | negotiating |  71000 |   5 | Jonas Weber
lead_2121 | Tallinn Ledger OÜ        | tallinn-ledger.example      | Baltic        | Liis Saar            | contacted   |  34000 |  12 | Jonas Weber
lead_2122 | Nemunas Timber UAB       | nemunas-timber.example      | Baltic        | Jonas Kazlauskas     | new         |  26000 |   8 | Jonas Weber
lead_2123 | Saaremaa Marine OÜ       | saaremaa-marine.example     | Baltic        | Dace Liepa           | contacted   |  15000 |  21 | -
lead_2124 | Vilnius Photonics UAB    | vilnius-photonics.example   | Baltic        | Vytas Butkus         | negotiating |  88000 |   2 | Jonas Weber
lead_2125 | Kurzeme Dairy SIA        | kurzeme-dairy.example       | Baltic        | Maarja Kask          | new         |  19000 |  16 | Jonas Weber
lead_2126 | Amber Grid UAB           | amber-grid.example          | Baltic        | Edgars Bērziņš       | won         | 152000 |  33 | Jonas Weber
lead_2127 | Peipsi Agro OÜ           | peipsi-agro.example         | Baltic        | Ugne Jonaitis        | contacted   |  11000 |  27 | Jonas Weber
lead_2128 | Gauja Robotics SIA       | gauja-robotics.example      | Baltic        | Sandis Kalniņš       | new         |  43000 |   3 | Jonas Weber
lead_2129 | Neris Biotech UAB        | neris-biotech.example       | Baltic        | Triin Rebane         | contacted   |  57000 |  10 | Jonas Weber
lead_2130 | Jūrmala Resorts SIA      | jurmala-resorts.example     | Baltic        | Inês Sousa           | lost        |  36000 | 120 | Jonas Weber
lead_2131 | Lahemaa Forest OÜ        | lahemaa-forest.example      | Baltic        | Rodrigo Herrero      | new         |  14000 |   7 | Jonas Weber
lead_2132 | Tajo Marítima SL         | tajo-maritima.example       | Iberia Cloud  | Duarte Pinto         | negotiating | 118000 |   6 | Pau Ferrer
lead_2133 | Meseta Solar SL          | meseta-solar.example        | Iberia Cloud  | Montse Vidal         | won         | 164000 |  18 | Pau Ferrer
lead_2134 | Ribeira Digital Lda      | ribeira-digital.example     | Iberia Cloud  | Heike Krämer         | contacted   |  38000 |  13 | Pau Ferrer
lead_2135 | Montjuïc Labs SL         | montjuic-labs.example       | Iberia Cloud  | Malte Schulte        | new         |  21000 |   4 | Pau Ferrer
lead_2136 | Ribeira Digital          | ribeira-digital.example     | Iberia Cloud  | Petra Babić          | inactive    |  35000 | 260 | -
lead_2137 | Lorelei Chemie GmbH      | lorelei-chemie.example      | Rhine Valley  | Bastien Lacroix      | negotiating | 290000 |   2 | Jonas Weber
lead_2138 | Rheinbogen Software GmbH | rheinbogen.example          | Rhine Valley  | Élodie Moreau        | contacted   |  66000 |  15 | Jonas Weber
lead_2139 | Tauern Energie GmbH      | tauern-energie.example      | Rhine Valley  | Joost Peeters        | new         | 140000 |   9 | Jonas Weber
lead_2140 | Bodensee Medtech AG      | bodensee-medtech.example    | Rhine Valley  | Aoife Byrne          | won         |  98000 |  40 | Jonas Weber
lead_2141 | Zugspitze Software GmbH  | zugspitze-software.example  | Rhine Valley  | Eleni Pappas         | lost        |  45000 |  95 | Jonas Weber
lead_2142 | Istra Foods doo          | istra-foods.example         | Adriatic      | Marek Novák          | contacted   |  32000 |  17 | Luca Moretti
lead_2143 | Tauern Energie GmbH      | tauern-energie.example      | Adriatic      | Karin Lund           | new         |  54000 |  22 | Luca Moretti
lead_2144 | Gotthard Logistics AG    | gotthard-logistics.example  | Adriatic      | Leif Dahl            | contacted   |  29000 |  31 | Luca Moretti
lead_2145 | Garonne Avionique SAS    | garonne-avionique.example   | Gallia        | Aada Niemi           | negotiating | 176000 |   1 | Chloé Garnier
lead_2146 | Lutèce Conseil SAS       | lutece-conseil.example      | Gallia        | Helmi Salo           | new         |  24000 |   5 | Chloé Garnier
lead_2147 | Montjuïc Labs SL         | montjuic-labs.example       | Gallia        | Lukas Meier          | contacted   |  20000 |  28 | Chloé Garnier
lead_2148 | Lutece Conseil           | lutece-conseil.example      | Gallia        | Flurin Cadosch       | inactive    |  23000 | 301 | Chloé Garnier
lead_2149 | Inntal Maschinenbau GmbH | inntal-maschinenbau.example | Danube        | Nora Baumann         | contacted   |  61000 |  64 | -
lead_2150 | Tatra Steel as           | tatra-steel.example         | Danube        | Tomas Mikkelsen      | new         |  89000 |  70 | Greta Hofer
lead_2151 | Scheldt Ports NV         | scheldt-ports.example       | Benelux Scale | Olga Ruiz            | negotiating | 205000 |   3 | Chloé Garnier
lead_2152 | Lorelei Chemie GmbH      | lorelei-chemie.example      | Benelux Scale | Bruno Costa          | contacted   | 110000 |  20 | Chloé Garnier
lead_2153 | Öresund Payments AB      | oresund-pay.example         | Benelux Scale | Marta Silva          | new         |  72000 |   8 | Chloé Garnier
lead_2154 | Shannon Devices Ltd      | shannon-devices.example     | Celtic Bridge | Felix Wolf           | contacted   |  49000 |  10 | Mara Lindqvist
lead_2155 | Skagerrak Foods AS       | skagerrak-foods.example     | Celtic Bridge | Ciara Walsh          | new         |  68000 |  14 | Mara Lindqvist
lead_2156 | Fjordkraft Systems AS    | fjordkraft.example          | Celtic Bridge | Yannis Nikas         | lost        |  55000 | 150 | Mara Lindqvist
lead_2157 | Aegean Ferries SA        | aegean-ferries.example      | Hellas        | Zuzana Horváth       | won         | 127000 |  45 | Luca Moretti
lead_2158 | Istra Foods doo          | istra-foods.example         | Hellas        | Oskar Lind           | inactive    |  18000 | 340 | Luca Moretti
lead_2159 | Tatra Steel as           | tatra-steel.example         | Carpathia     | Elin Sjö             | negotiating | 143000 |   7 | Pau Ferrer
lead_2160 | Nemunas Timber UAB       | nemunas-timber.example      | Carpathia     | Timo Ranta           | contacted   |  31000 |  23 | Pau Ferrer
lead_2161 | Amber Grid UAB           | amber-grid.example          | Carpathia     | Selma Vik            | new         |  77000 |  12 | Pau Ferrer
lead_2162 | Vilnius Photonics UAB    | vilnius-photonics.example   | Carpathia     | Arvid Åberg          | contacted   |  46000 |  35 | -
`;

export const leadRows: readonly LeadRow[] = readRows(table).map(
  ([
    id = '',
    company = '',
    domain = '',
    program = '',
    contact = '',
    status = '',
    value,
    idle,
    owner = '-',
  ]) => ({
    id,
    company,
    domain,
    program,
    contact,
    status,
    value: Number(value),
    idleDays: Number(idle),
    owner: owner === '-' ? null : owner,
  }),
);
