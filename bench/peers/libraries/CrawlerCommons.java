// library: maven com.github.crawler-commons:crawler-commons:1.5
import crawlercommons.robots.SimpleRobotRulesParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HexFormat;
import java.util.List;

public class CrawlerCommons {
    public static void main(String[] arguments) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            var parts = line.split("\t", -1);
            String crawler = text(parts[1]).toLowerCase(), url = text(parts[2]), allowed = "-";
            try {
                String robots = url.substring(0, url.indexOf('/', url.indexOf("://") + 3)) + "/robots.txt";
                var rules = new SimpleRobotRulesParser().parseContent(robots, HexFormat.of().parseHex(parts[0]), "text/plain",
                    crawler.equals("*") ? List.of() : List.of(crawler));
                allowed = rules.isAllowed(url) ? "1" : "0";
            } catch (RuntimeException e) {
            }
            System.out.println(allowed);
        }
    }

    static String text(String hex) {
        return new String(HexFormat.of().parseHex(hex), java.nio.charset.StandardCharsets.UTF_8);
    }
}
